import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ConfigError } from '#shared/base/mistake.ts';

/** The most bytes of a file with the value of a setting. */
const MOST_BYTES = 1024 * 1024;

/**
 * Returns the text of a file that the variable or setting `path` names. `forbidden`: permissions that the file must not
 * have. Throws a `ConfigError` that names `path`.
 */
export async function readGivenFile(path: string, file: string, forbidden = 0): Promise<string> {
  const refusal = (message: string) => new ConfigError([{ path, message }]);
  try {
    // If the file were a pipe without a writer, the start would wait for ever.
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
    // A value in place of a path may be a secret.
    const named = code === 'ENOENT' || code === 'ENAMETOOLONG' ? 'the file' : file;
    throw refusal(`cannot read ${named} (${code}): correct the path or its permissions`);
  }
}
