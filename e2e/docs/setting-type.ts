import { code } from './markdown.ts';

/** The parts of JSON Schema (draft 2020-12) that the configuration's schema uses. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly unit?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly default?: unknown;
  readonly description?: string;
}

/**
 * A short description of a setting's values, such as "10 to 86,400 seconds", "`a` or `b`" or "list of
 * strings".
 */
export function typeOf(schema: Schema): string {
  const choices = choicesOf(schema);
  if (choices) return or(choices.map((choice) => code(JSON.stringify(choice))));
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return or([...new Set(branches.map(typeOf))]);
  if (isRate(schema)) return 'rate';
  if (schema.type === 'array') return `list of ${plural(typeOf(schema.items ?? {}))}`;
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema);
  return schema.type ?? 'any value';
}

/** Whether the schema is for `{ "burst": ..., "per": ... }`. */
export const isRate = ({ properties }: Schema): boolean =>
  Object.keys(properties ?? {}).join() === 'burst,per';

function choicesOf(schema: Schema): readonly unknown[] | undefined {
  return schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
}

const or = (texts: readonly string[]): string =>
  texts.length < 3
    ? texts.join(' or ')
    : `${texts.slice(0, -1).join(', ')} or ${texts.slice(-1).join()}`;

const plural = (type: string) => (/^(?:string|object|integer)$/.test(type) ? `${type}s` : type);

function numberOf({ type, minimum, maximum, exclusiveMinimum, unit }: Schema): string {
  const kind = unit ?? (type === 'integer' ? '' : 'number');
  const least =
    exclusiveMinimum === undefined ? minimum : `more than ${withCommas(exclusiveMinimum)}`;
  const range =
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
      ? [least, 'or more']
      : [least, 'to', maximum];
  return [...range, kind]
    .map((part) => (typeof part === 'number' ? withCommas(part) : part))
    .filter((part) => part !== '')
    .join(' ');
}

const withCommas = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 9 });
