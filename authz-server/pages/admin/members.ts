import type * as z from 'zod';
import type { Operation } from '#shared/operations/operation.ts';
import {
  choicesOf,
  isOptional,
  kindOf,
  secretsOf,
  spellingOf,
  type Texts,
} from '#shared/operations/texts.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminField } from '../frame/admin-view.ts';
import { fieldWord, hintWord, optionWord } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import type { Wrong } from './refusal.ts';

/** The members of lists that the links to the next page fill in. */
const PAGING: ReadonlySet<string> = new Set(['after', 'limit']);

/** Returns the members that have several values: their fields may be there more than once. */
export const repeatedIn = ({ input }: Pick<Operation, 'input'>): ReadonlySet<string> =>
  new Set(membersOf(input).flatMap(([name, schema]) => (kindOf(schema) === 'texts' ? [name] : [])));

/**
 * Returns what a form or a query gives of each member. A field that was left empty gives nothing; spaces around a value
 * count in secrets alone. The name of a part that was left empty is kept, so that it is refused.
 */
export function textsIn(
  { input, parts = [] }: Pick<Operation, 'input' | 'parts'>,
  given: URLSearchParams,
): Texts {
  const several = repeatedIn({ input });
  const secrets = secretsOf(input);
  const entries = [...new Set(given.keys())].map((name): [string, readonly string[]] => {
    const values = given.getAll(name);
    const separate = several.has(name) ? values.flatMap((value) => value.split(/\r?\n/)) : values;
    const typed = secrets.has(name) ? separate : separate.map((value) => value.trim());
    return [name, parts.includes(name) ? typed : typed.filter((value) => value !== '')];
  });
  return new Map(entries.filter(([, values]) => values.length > 0));
}

/** Returns what a form gives, without secrets: it may stand in an address. */
export function withoutSecrets(
  { input }: Pick<Operation, 'input'>,
  form: URLSearchParams,
): URLSearchParams {
  const secrets = secretsOf(input);
  return new URLSearchParams([...form].filter(([name]) => !secrets.has(name)));
}

/**
 * Returns the fields for the members of an operation, without those that name a part: parts have pages of their own. With what is typed in them and what is wrong with one. What was typed
 * as a secret is not shown again.
 */
export function fieldsOf(
  operation: Pick<Operation, 'name' | 'effect' | 'input' | 'parts'>,
  texts: Texts,
  language: Language,
  wrong?: Wrong,
): readonly AdminField[] {
  const { input, parts = [] } = operation;
  const secrets = secretsOf(input);
  return membersOf(input)
    .filter(([name]) => !PAGING.has(name) && !parts.includes(name))
    .map(([name, schema]) => {
      const isSecret = secrets.has(name);
      return Object.assign(
        isSecret
          ? ({ kind: 'secret', options: [] } as const)
          : shapeOf(name, schema, operation, language),
        wordsOf(name, schema, language),
        {
          name,
          values: isSecret ? [] : (texts.get(name) ?? []),
          required: !isOptional(schema),
        },
        hintOf(name, language),
        wrong?.path[0] === name && { problem: wrong.message },
      );
    });
}

function hintOf(name: string, language: Language): Pick<AdminField, 'hint'> {
  const hint = hintWord(language, name);
  return hint === undefined ? {} : { hint };
}

/** The label of a member; where nobody has put it in words its description, in English. */
function wordsOf(
  name: string,
  schema: z.ZodType,
  language: Language,
): Pick<AdminField, 'label' | 'isEnglish'> {
  const label = fieldWord(language, name);
  return label === undefined ? { label: schema.description ?? name, isEnglish: true } : { label };
}

const membersOf = (input: z.ZodObject) => Object.entries(input.shape) as [string, z.ZodType][];

function shapeOf(
  name: string,
  schema: z.ZodType,
  operation: Pick<Operation, 'name' | 'effect' | 'input'>,
  language: Language,
): Pick<AdminField, 'kind' | 'options'> {
  const { admin } = textsOf(language);
  const kind = kindOf(schema);
  if (kind === 'flag') {
    const flags = { false: admin.no, true: admin.yes };
    const options = Object.entries(flags).map(([value, label]) => ({ value, label }));
    return { kind: 'choice', options: withAbsent(schema, options, operation, language) };
  }
  const choices = choicesOf(schema)?.map((value) => ({
    value,
    label: choiceLabel(name, value, operation, language),
  }));
  if (choices === undefined) return { kind: kind === 'texts' ? 'lines' : kind, options: [] };
  if (kind === 'texts') return { kind: 'choices', options: choices };
  return { kind: 'choice', options: withAbsent(schema, choices, operation, language) };
}

/** The label of a choice. Each choice of `without` clears the member of an option, and has the label of its field. */
function choiceLabel(
  name: string,
  value: string,
  { input }: Pick<Operation, 'input'>,
  language: Language,
): string {
  if (name !== 'without') return optionWord(language, value) ?? value;
  const [member = value] =
    membersOf(input).find((entry) => spellingOf(...entry).option === value) ?? [];
  return fieldWord(language, member) ?? value;
}

type Options = AdminField['options'];

/** Returns the options with the one for what is not given first: the default, if the schema says which it is. */
function withAbsent(
  schema: z.ZodType,
  options: Options,
  { name, effect }: Pick<Operation, 'name' | 'effect'>,
  language: Language,
): Options {
  if (!isOptional(schema)) return options;
  const value = String(schema.safeParse(undefined).data);
  const known = options.find((option) => option.value === value);
  if (known) return [known, ...options.filter((option) => option !== known)];
  const { any, unchanged, byDefault } = textsOf(language).admin;
  const change = name.endsWith(' set') ? unchanged : byDefault;
  return [{ value: '', label: effect === 'reads' ? any : change }, ...options];
}
