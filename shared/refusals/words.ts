/** The values that take the places of the names in a text. */
export type Values = Readonly<Record<string, string | number>>;

/** The names in braces. */
export type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The arguments beside a code: the values that its text names, or none. */
export type Given<Text> = [NamesIn<Text>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<Text>, string | number>>];

/** Returns a text with its values. */
export const filled = (text: string, values: Values): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${values[name]}`);

/** A text of a table. Programs, and pages in other languages, read its code and its values. */
export interface Words {
  readonly code: string;
  readonly values: Values;
  /** The same in English. */
  readonly message: string;
  /** It stands before the text, in every language. */
  readonly about?: string;
}

/** Returns a text that goes on after what it is about. */
export const about = (subject: string, words: Words): Words => ({
  ...words,
  message: `${subject} ${words.message}`,
  about: subject,
});

type Table = Readonly<Record<string, string>>;

/** Creates the function that says what a table has by its codes. */
export const speaker =
  <Of extends Table>(table: Of) =>
  <Code extends keyof Of & string>(code: Code, ...[given]: Given<Of[Code]>): Words => {
    const values: Values = given ?? {};
    return { code, values, message: filled(table[code] ?? '', values) };
  };
