import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** How many are refused. */
export const COMMONEST = 10_000;

/** Least characters of those that count: a shorter password is refused anyway. */
const LEAST = 8;

const LIST = '@zxcvbn-ts/language-common/src/passwords.json';

/** Reads the list, a JSON array in lower case with the commonest first. */
const readList = () => readFile(createRequire(import.meta.url).resolve(LIST), 'utf8');

/**
 * Creates a function that says whether a password is among the commonest, in any case. It reads the list when it is
 * first asked: no server needs it to start, and most processes never do.
 */
export function commonPasswords(read: () => Promise<string> = readList) {
  let known: Promise<ReadonlySet<string>> | undefined;

  async function load(): Promise<ReadonlySet<string>> {
    const all = JSON.parse(await read()) as readonly string[];
    return new Set(all.filter(({ length }) => length >= LEAST).slice(0, COMMONEST));
  }

  return async (password: string): Promise<boolean> => {
    known ??= load();
    try {
      return (await known).has(password.toLowerCase());
    } catch (error) {
      // The next one reads it again.
      known = undefined;
      throw error;
    }
  };
}

export const isCommonPassword = commonPasswords();
