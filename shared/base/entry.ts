import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the source or of the bundle, where this file is an entry, and so as deep as here. */
export const ROOT = new URL('../../', import.meta.url);

/** Whether the source itself runs, or files that were made of it. */
export const CODE = extname(import.meta.url) === '.ts' ? 'source' : 'bundle';

/** Arguments of Node for a process that needs nothing that `lean-http.js` leaves out. */
export const LEAN = ['--import', new URL('shared/base/lean-http.js', ROOT).href];

/** Returns the file of an entry, a process or thread. `name`: `room/file` from the top, without an extension. */
export function entryFile(name: string): string {
  return fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, ROOT));
}
