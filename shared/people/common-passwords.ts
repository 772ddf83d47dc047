import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** How many of the commonest passwords are refused. */
export const COMMONEST = 10_000;

/** Least characters of a password on the list: shorter passwords are refused anyway. */
const LEAST = 8;

const LIST = '@zxcvbn-ts/language-common/src/passwords.json';

/** Reads the list, a JSON array in lower case with the commonest first. */
const readList = () => readFile(createRequire(import.meta.url).resolve(LIST), 'utf8');

/**
 * Creates a function that returns whether a password is among the commonest, in any case. It reads the list at its
 * first call: no server needs the list to start, and most processes never do. It searches in the text, since parsing
 * the whole list would cost a tenth of a start.
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
      // The next call reads the list again.
      known = undefined;
      throw error;
    }
  };
}

/** Returns the length of the part of the list that has the refused passwords. */
const counted = (list: string): number =>
  (JSON.parse(list) as readonly string[]).filter(({ length }) => length >= LEAST).length;

export const isCommonPassword = commonPasswords();
