import { open } from 'node:fs/promises';
import { Failure } from '../arguments/command.ts';

/**
 * Reads a file in UTF-8 of at most so many octets. `regular`: refuses what is not a file with content, such as a device
 * or a pipe, which may never end; links are followed. Throws `Failure`, whose message never has the content.
 */
export async function boundedFile(path: string, most: number, regular = false): Promise<string> {
  const bytes = Buffer.alloc(most + 1);
  let length = 0;
  try {
    await using file = await open(path);
    if (regular && !(await file.stat()).isFile()) throw new Failure(`${path} is no file`);
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length > most) break;
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  if (length > most) throw new Failure(`${path} has more than ${most.toLocaleString('en')} octets`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    throw new Failure(`${path} is not UTF-8`);
  }
}
