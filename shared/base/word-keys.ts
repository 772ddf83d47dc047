/** Words of a name that count, and the UTF-16 code units of each. */
const MOST = { words: 8, characters: 32 };

/** Returns the search keys for the words of a name, each once: a search finds the name by the beginning of a word. */
export const wordKeysOf = (name: string): readonly string[] => {
  const words = name
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '');
  return [...new Set(words.slice(0, MOST.words).map(wordKey))];
};

/** Half a character at the cut is replaced as a store replaces it: otherwise two keys would be one there. */
const wordKey = (word: string): string => `word:${word.slice(0, MOST.characters).toWellFormed()}`;

/**
 * Returns the search key of the longest word, which the fewest names have as a rule: a store finds some names only. Undefined
 * without words.
 */
export const rarestKeyOf = (typed: string): string | undefined =>
  wordKeysOf(typed).toSorted((a, b) => b.length - a.length)[0];

/** Whether each word of `typed` begins a word of the name. */
export function hasWords(name: string, typed: string): boolean {
  const keys = wordKeysOf(name);
  return wordKeysOf(typed).every((start) => keys.some((key) => key.startsWith(start)));
}
