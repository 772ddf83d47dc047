import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ConfigError } from '#shared/base/mistake.ts';

/** More is no value of a setting. */
const MOST_BYTES = 1024 * 1024;

/**
 * Returns the text of a file that the variable `path` names. `forbidden`: permissions that it must not have. Throws
 * `ConfigError` with that path.
 */
export async function readGivenFile(path: string, file: string, forbidden = 0): Promise<string> {
  const refusal = (message: string) => new ConfigError([{ path, message }]);
  try {
    // A pipe without a writer would let the start wait for ever.
    await using handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await handle.stat();
    if (!stats.isFile()) throw refusal(`${file} is no regular file: name a file with the value`);
    if (process.platform !== 'win32' && (stats.mode & forbidden) !== 0) {
      throw refusal(`${file} is open to others: chmod 600 ${file}`);
    }
    if (stats.size > MOST_BYTES) {
      throw refusal(`${file} has more than ${MOST_BYTES} bytes: name a file with the value alone`);
    }
    return await handle.readFile('utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(`cannot read ${file} (${code}): correct the path or its permissions`);
  }
}
