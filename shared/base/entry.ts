import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the source, or of what was bundled of it: there, what several entries import stands as deep as this file. */
export const ROOT = new URL('../../', import.meta.url);

/** Of Node, for a process that needs nothing of what `lean-http.js` leaves out. */
export const LEAN = ['--import', new URL('shared/base/lean-http.js', ROOT).href];

/** The file of what runs as a process or thread of its own, named as from the top: `room/file` without an extension. */
export function entryFile(name: string): string {
  return fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, ROOT));
}
