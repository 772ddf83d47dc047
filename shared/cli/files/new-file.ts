import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../arguments/command.ts';

/** Creates a new file that only its owner can read. If that fails, it leaves no partial file. Throws `Failure`. */
export async function writeNewFile(
  file: string,
  content: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  if (file === '-') throw new Failure('secrets go to no output: name a new file in place of -');
  const refuse = (error: NodeJS.ErrnoException): never => {
    if (error.code === undefined) throw error;
    throw new Failure(
      error.code === 'EEXIST'
        ? `${file} is there already: name another`
        : `cannot write ${file} (${error.code})`,
    );
  };
  const handle = await open(file, 'wx', 0o600).catch(refuse);
  try {
    await pipeline(content, handle.createWriteStream({ flush: true }));
  } catch (error) {
    await rm(file);
    refuse(error as NodeJS.ErrnoException);
  }
}
