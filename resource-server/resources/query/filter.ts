import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Select } from './select.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * A filter of an array of objects, as a form (`application/x-www-form-urlencoded`):
 *
 * - `name=text` keeps the objects whose member `name` is that string, or a number, true, false or null
 *   that JSON writes so; a name that comes again has several texts to choose from;
 * - `sort=a,-b` orders them by `a`, then by `b` from the greatest: numbers, then strings by their code
 *   units, then all others and those without one, as they were;
 * - `offset=n` leaves out the first n, `limit=n` all but n of those that follow;
 * - `select=a,b` leaves only these members.
 *
 * All but these four names are members, and of the top level. Elements that are no objects are left out.
 * Throws `BadRequest` for content that is no form, `HttpError` 422 for one that says nothing sensible.
 */
export function compileFilter(text: string): Select {
  const pairs = parseForm(text);
  const own = (name: string) => reserved(pairs, name);
  const comparisons = Map.groupBy(
    pairs.filter(([name]) => !RESERVED.has(name)),
    ([name]) => name,
  );
  const wanted = [...comparisons].map(
    ([name, given]) =>
      [name, new Set<string | undefined>(given.map(([, value]) => value))] as const,
  );
  const keys = names(own('sort')).map(sortKey);
  const offset = count(own('offset')) ?? 0;
  const limit = count(own('limit')) ?? Infinity;
  const selected = own('select') === undefined ? undefined : new Set(names(own('select')));

  return (value) => {
    if (!Array.isArray(value)) throw new HttpError(422, 'Only an array can be filtered.');
    return value
      .filter(isRow)
      .filter((row) => wanted.every(([name, texts]) => texts.has(textOf(member(row, name)))))
      .toSorted((a, b) => firstDifference(keys, a, b))
      .slice(offset, offset + limit)
      .map((row) => (selected === undefined ? row : only(row, selected)));
  };
}

const RESERVED: ReadonlySet<string> = new Set(['select', 'sort', 'offset', 'limit']);

type Pair = readonly [name: string, value: string];

/** As the URL standard parses it, but strictly: percent-encoding has to be whole, and UTF-8. */
function parseForm(text: string): readonly Pair[] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      if (equals === -1) return [decode(pair), ''];
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new BadRequest('The content is not a form: its percent-encoding is malformed.');
  }
}

function reserved(pairs: readonly Pair[], wanted: string): string | undefined {
  const [first, second] = pairs.filter(([name]) => name === wanted);
  if (second !== undefined) throw new HttpError(422, `${wanted} may come once only.`);
  return first?.[1];
}

function names(list: string | undefined): readonly string[] {
  const all = list?.split(',') ?? [];
  if (all.some((name) => name === '')) {
    throw new HttpError(422, 'select and sort are names with commas between them.');
  }
  return all;
}

function count(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new HttpError(422, 'limit and offset are numbers.');
  return Number(text);
}

interface SortKey {
  readonly name: string;
  readonly sign: 1 | -1;
}

function sortKey(text: string): SortKey {
  return text.startsWith('-') ? { name: text.slice(1), sign: -1 } : { name: text, sign: 1 };
}

function firstDifference(keys: readonly SortKey[], a: Row, b: Row): number {
  for (const { name, sign } of keys) {
    const order = compare(member(a, name), member(b, name), sign);
    if (order !== 0) return order;
  }
  return 0;
}

function compare(a: unknown, b: unknown, sign: 1 | -1): number {
  const byKind = kind(a) - kind(b);
  if (byKind !== 0) return byKind;
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  if (typeof a === 'string' && typeof b === 'string' && a !== b) return a < b ? -sign : sign;
  return 0;
}

function kind(value: unknown): number {
  if (typeof value === 'number') return 0;
  return typeof value === 'string' ? 1 : 2;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(row: Row, name: string): unknown {
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

/** Undefined: nothing that a form can be compared with. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? undefined : JSON.stringify(value);
}

function only(row: Row, selected: ReadonlySet<string>): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => selected.has(name)));
}
