import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  lstatSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { pipeline } from 'node:stream/promises';

const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Octets of one read. */
const SLICE = 2 ** 20;

/** A link or a pipe is in the place of a file or folder. Hard links are allowed, as backups often have them. */
export class IrregularFile extends Error {}

/** Opens a file to read it. Throws `IrregularFile`. */
export function openRegular(path: string): number {
  if (!lstatSync(path).isFile()) throw new IrregularFile(`${path} is no regular file`);
  return openSync(path, READING);
}

/** Throws `IrregularFile`. */
export function readRegular(path: string): string {
  const descriptor = openRegular(path);
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Throws `IrregularFile` for a link, even one that leads to a folder. */
export function demandFolder(path: string): void {
  if (!lstatSync(path).isDirectory()) throw new IrregularFile(`${path} is no folder`);
}

/** Copies a file for its owner alone, and waits until its content is on the disk. Rejects with `IrregularFile`. */
export async function copyRegular(from: string, to: string): Promise<void> {
  const source = createReadStream(from, { fd: openRegular(from), highWaterMark: SLICE });
  await pipeline(source, createWriteStream(to, { mode: 0o600, flush: true }));
}
