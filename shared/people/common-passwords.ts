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
 * first asked: no server needs it to start, and most processes never do. It searches the text: to parse all of the
 * list costs as much as a tenth of a start.
 */
export function commonPasswords(read: () => Promise<string> = readList) {
  let known: Promise<string> | undefined;

  return async (password: string): Promise<boolean> => {
    if (password.length < LEAST) return false;
    known ??= read();
    try {
      const list = await known;
      const entry = JSON.stringify(password.toLowerCase());
      const at = list.indexOf(entry);
      return at >= 0 && counted(`${list.slice(0, at)}${entry}]`) <= COMMONEST;
    } catch (error) {
      // The next one reads it again.
      known = undefined;
      throw error;
    }
  };
}

/** How many of a list count. */
const counted = (list: string): number =>
  (JSON.parse(list) as readonly string[]).filter(({ length }) => length >= LEAST).length;

export const isCommonPassword = commonPasswords();
