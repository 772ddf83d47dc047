import { filled, type NamesIn, type Words } from './words.ts';

type Table = Readonly<Record<string, string>>;

/** Returns a text in the language of a table, or in English if the table lacks the code. */
export function inLanguage(table: Table, { code, values, message, about }: Words): string {
  if (table[code] === undefined) return message;
  const text = filled(table[code], values, (words) => inLanguage(table, words));
  return [about, text].filter(Boolean).join(' ');
}

/** Returns the text as a sentence. A value at its beginning keeps its case, since it may be a name. */
export function sentenceIn(table: Table, words: Words): string {
  const text = inLanguage(table, words);
  const begin = words.about ?? table[words.code] ?? words.message;
  const first = begin.startsWith('{') ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Returns a table in another language. It has the same codes and the same values. */
export const translated =
  <Of extends Table>() =>
  <const In extends Readonly<Record<keyof Of, string>>>(
    table: In & Fitting<Of, In>,
  ): Translation<Of> =>
    table;

export type Translation<Of extends Table> = Readonly<Record<keyof Of, string>>;

type Fitting<Of extends Table, In extends Readonly<Record<keyof Of, string>>> = {
  readonly [Code in keyof Of]: NamesIn<In[Code]> extends NamesIn<Of[Code]> ? string : never;
};
