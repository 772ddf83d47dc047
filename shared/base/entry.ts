import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the source or of the bundle. An entry of the bundle is as deep in its folder as this file. */
export const ROOT = new URL('../../', import.meta.url);

/** Whether this process runs the source itself or a bundle. */
export const CODE = extname(import.meta.url) === '.ts' ? 'source' : 'bundle';

/** Arguments of Node for a process that needs nothing of what `lean-http.js` leaves out. */
export const LEAN = ['--import', new URL('shared/base/lean-http.js', ROOT).href];

/**
 * Returns the file of an entry, which is a process or thread. `name`: `room/file` from the root, without an
 * extension.
 */
export function entryFile(name: string): string {
  return fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, ROOT));
}
