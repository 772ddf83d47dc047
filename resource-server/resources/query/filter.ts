import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Select } from './select.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * A filter for an array of objects, as a form (`application/x-www-form-urlencoded`):
 *
 * - `name=text` keeps the objects whose member `name` is that string, or a number, true, false or null that is
 *   written so in JSON; a repeated name lists alternatives;
 * - `sort=a,-b` orders them by `a`, then by `b` descending: numbers, then strings by their code units, then all
 *   others and those without the member, in their original order;
 * - `offset=n` skips the first n, `limit=n` keeps at most n of the rest;
 * - `select=a,b` keeps only these members.
 *
 * All other names are members of the top level. Elements that are not objects are left out. Throws `BadRequest` if
 * the content is not a form, `HttpError` 422 if the form makes no sense.
 *
 * `members`: the members that the objects may have, if they are always the same. A comparison of another one is then
 * 422: the client has mistyped it.
 */
export function compileFilter(text: string, members?: readonly string[]): Select {
  const pairs = parseForm(text);
  const ours = (name: string) => reserved(pairs, name);
  const comparisons = Map.groupBy(
    pairs.filter(([name]) => !RESERVED.has(name)),
    ([name]) => name,
  );
  checkNames([...comparisons.keys()], members);
  const wanted = [...comparisons].map(
    ([name, given]) =>
      [name, new Set<string | undefined>(given.map(([, value]) => value))] as const,
  );
  const keys = names(ours('sort')).map(sortKey);
  const offset = count(ours('offset')) ?? 0;
  const limit = count(ours('limit')) ?? Infinity;
  const selected = ours('select') === undefined ? undefined : new Set(names(ours('select')));

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

function checkNames(compared: readonly string[], members: readonly string[] | undefined): void {
  if (members === undefined || compared.every((name) => members.includes(name))) return;
  const reason = 'No entry of this listing has a member that the query names.';
  const detail = `${reason} The members are: ${members.join(', ')}.`;
  throw Object.assign(new HttpError(422, detail), { reason });
}

const RESERVED: ReadonlySet<string> = new Set(['select', 'sort', 'offset', 'limit']);

type Pair = readonly [name: string, value: string];

/** Parses a form as the URL standard does, but strictly: percent-encoding must be complete and UTF-8. */
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

/** Returns undefined if the value cannot be compared with a form's text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? undefined : JSON.stringify(value);
}

function only(row: Row, selected: ReadonlySet<string>): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => selected.has(name)));
}
