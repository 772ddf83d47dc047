/** A value in a text: a text of a table says why something is refused. */
type Value = string | number | Words;

/** The values that replace the names in a text. */
export type Values = Readonly<Record<string, Value>>;

/** The names in braces in a text. */
export type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The arguments after a code: the values that its text names, or none. */
export type Given<Text> = [NamesIn<Text>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<Text>, Value>>];

/** Returns a text in which values replace the names. `say` returns the text of a value that has words; default: English. */
export const filled = (
  text: string,
  values: Values,
  say: (words: Words) => string = ({ message }) => message,
): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === 'object' ? say(value) : `${value}`;
  });

/** A text of a table. Programs, and pages in other languages, read its code and its values. */
export interface Words {
  readonly code: string;
  readonly values: Values;
  /** The text in English. */
  readonly message: string;
  /** A text before the message, the same in every language. */
  readonly about?: string;
}

/** Returns a text that continues what it is about. */
export const about = (subject: string, words: Words): Words => ({
  ...words,
  message: `${subject} ${words.message}`,
  about: subject,
});

type Table = Readonly<Record<string, string>>;

/** Creates the function that returns a table's texts by their codes. */
export const speaker =
  <Of extends Table>(table: Of) =>
  <Code extends keyof Of & string>(code: Code, ...[given]: Given<Of[Code]>): Words => {
    const values: Values = given ?? {};
    return { code, values, message: filled(table[code] ?? '', values) };
  };
