import type { Language } from '#shared/pages/language.ts';
import { textsOf } from '../index.ts';

/** The words for an operation. */
interface OperationWords {
  readonly title: string;
  /** Its purpose, or what will happen. */
  readonly text: string;
  /** Said when it is done; absent from operations that only read. */
  readonly done?: string;
}

type Table<Words> = Readonly<Record<string, Words>>;

const inTable = <Words>(table: Table<Words>, name: string): Words | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Undefined: nobody has put it in words. */
export const operationWords = (language: Language, name: string): OperationWords | undefined =>
  inTable<OperationWords>(textsOf(language).admin.operations, name);

/** Undefined: nobody has put it in words. */
export const groupWords = (language: Language, name: string) =>
  inTable<Omit<OperationWords, 'done'>>(textsOf(language).admin.groups, name);

/** The title of a page that is about somebody or something by name. Undefined: there is none for the operation. */
export const namedTitle = (language: Language, operation: string, name: string) =>
  inTable<(name: string) => string>(textsOf(language).admin.named, operation)?.(name);

/** The words of a page that ends one part. */
interface PartWords {
  readonly title: (part: string, whose: string) => string;
  readonly text: string;
  /** On its button. */
  readonly submit: string;
  readonly done: string;
}

/** Undefined: nobody has put it in words. */
export const partWords = (language: Language, part: string): PartWords | undefined =>
  inTable<PartWords>(textsOf(language).admin.partly, part);

/** The form in which the field of a member is written. Undefined: any text will do. */
export const hintWord = (language: Language, name: string): string | undefined =>
  inTable<string>(textsOf(language).admin.hints, name);

/** The label of the field of a member. Undefined: nobody has put it in words. */
export const fieldWord = (language: Language, name: string): string | undefined =>
  inTable<string>(textsOf(language).admin.fields, name) ?? memberWord(language, name);

/** Undefined: nobody has put it in words. */
export const memberWord = (language: Language, name: string): string | undefined =>
  inTable<string>(textsOf(language).admin.members, name);

/** The label of a choice in a form. Undefined: nobody has put it in words. */
export const optionWord = (language: Language, value: string): string | undefined =>
  inTable<string>(textsOf(language).admin.choices, value) ?? choiceWord(language, value);

/** A value out of a closed set, such as a kind of event. Undefined: nobody has put it in words. */
export const choiceWord = (language: Language, value: string): string | undefined =>
  eventWord(language, 'kinds', value) ?? memberWord(language, value);

/** A word of an event of the audit log. Undefined: nobody has put it in words. */
export const eventWord = (
  language: Language,
  of: keyof ReturnType<typeof textsOf>['admin']['events'],
  word: string,
): string | undefined => inTable<string>(textsOf(language).admin.events[of], word);
