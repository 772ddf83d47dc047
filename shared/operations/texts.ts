import * as z from 'zod';
import { InputError } from './operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** How a member is written at the command line and in forms, if its name does not determine it. */
interface Spelling {
  /** The name of the option, without dashes; for a member with several values the option gives one of them. */
  readonly option?: string;
  /** The word in the help that represents the value. */
  readonly value?: string;
  /** Reads one value; default: the text itself. */
  readonly read?: (text: string) => unknown;
  /** The values that a form offers, if several values mean the same. */
  readonly choices?: readonly string[];
  /** True if the value is a credential: no page shows it, and it is never in a URL. */
  readonly secret?: true;
}

/** How each member is written at the command line and in forms. */
export const SPELLINGS = z.registry<Spelling>();

/** Returns the name of a member's option, and the word that represents its value in the help. */
export function spellingOf(
  name: string,
  schema: z.ZodType,
): Required<Pick<Spelling, 'option' | 'value'>> {
  const { option = name.replaceAll('_', '-'), value = name.toUpperCase() } =
    SPELLINGS.get(schema) ?? {};
  return { option, value };
}

/** Returns a message in which the names of options are replaced by words for the members. */
export function withoutOptions(
  message: string,
  { shape }: z.ZodObject,
  wordFor: (member: string) => string,
): string {
  const members = new Map(
    Object.entries(shape).map(([name, schema]) => [
      spellingOf(name, schema as z.ZodType).option,
      name,
    ]),
  );
  return message.replace(/--([a-z-]+[a-z])/g, (text, option: string) => {
    const member = members.get(option);
    return member === undefined ? text : wordFor(member);
  });
}

/** Returns the names of the secret members. */
export const secretsOf = ({ shape }: z.ZodObject): ReadonlySet<string> =>
  new Set(Object.keys(shape).filter((name) => SPELLINGS.get(shape[name] as z.ZodType)?.secret));

/** How a member is written as text: at the command line, in a query, in a form. */
export type MemberKind = 'flag' | 'number' | 'text' | 'texts';

/** Returns the schema of a member's value, without wrappers for optional members and transformations. */
function innerOf(schema: z.ZodType): z.ZodType {
  let inner = schema;
  for (;;) {
    if (
      inner instanceof z.ZodOptional ||
      inner instanceof z.ZodDefault ||
      inner instanceof z.ZodExactOptional
    ) {
      inner = inner.unwrap() as z.ZodType;
    } else if (inner instanceof z.ZodPipe) {
      inner = inner.in as z.ZodType;
    } else return inner;
  }
}

/** Returns how a member is written as text. */
export function kindOf(schema: z.ZodType): MemberKind {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodBoolean) return 'flag';
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodArray ? 'texts' : 'text';
}

/** Returns the only texts that a member, or each of its values, may have; undefined if other texts are possible. */
export function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  const { choices } = SPELLINGS.get(schema) ?? {};
  if (choices !== undefined) return choices;
  const inner = innerOf(schema);
  const one = inner instanceof z.ZodArray ? innerOf(inner.element as z.ZodType) : inner;
  return one instanceof z.ZodEnum ? one.options.map(String) : undefined;
}

/** Returns whether a member with this schema is optional. */
export const isOptional = (schema: z.ZodType): boolean =>
  z.object({ member: schema }).safeParse({}).success;

/** The values of each member, as text. */
export type Texts = ReadonlyMap<string, readonly string[]>;

/**
 * Returns text values in the form that the schema accepts. Unknown members are included, so that the schema refuses
 * them. Throws `InputError` for a flag that is neither true nor false, and for two values of a member that has one.
 */
export function fromTexts(schema: z.ZodObject, texts: Texts): Readonly<Record<string, unknown>> {
  const entries = [...texts].map(([name, values]) => {
    const member = Object.hasOwn(schema.shape, name)
      ? (schema.shape[name] as z.ZodType)
      : undefined;
    const kind = member ? kindOf(member) : 'texts';
    const read = member && SPELLINGS.get(member)?.read;
    if (kind === 'texts') return [name, values.map((value) => read?.(value) ?? value)];
    if (values.length > 1) throw new InputError([name], said('given-twice'));
    return [name, (read ?? VALUES[kind])(values[0] ?? '', name)];
  });
  return Object.fromEntries(entries) as Readonly<Record<string, unknown>>;
}

const FLAGS: Readonly<Record<string, boolean>> = { '': true, true: true, on: true, false: false };

const VALUES: Readonly<
  Record<Exclude<MemberKind, 'texts'>, (text: string, name: string) => unknown>
> = {
  flag(text, name) {
    const value = Object.hasOwn(FLAGS, text) ? FLAGS[text] : undefined;
    if (value === undefined) throw new InputError([name], said('flag'));
    return value;
  },
  // If the text is no number, the schema refuses it with a message.
  number: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
  text: (text) => text,
};
