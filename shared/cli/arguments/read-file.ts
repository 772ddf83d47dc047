import { readFile } from 'node:fs/promises';
import { Failure } from './command.ts';

/** Reads a file that an argument names. Throws `Failure` if it cannot be read. */
export function fileContent(file: string): Promise<Buffer> {
  return readFile(file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Failure(`cannot read ${file} (${code})`);
  });
}
