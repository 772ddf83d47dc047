import { listText } from '#shared/stores/people/list-text.ts';
import type { PeopleRange, PersonRecord } from '#shared/stores/people/people.ts';
import { type Commands, script } from '../connection/connection.ts';
import { lexRange } from '../connection/name-range.ts';

/** Returns a bound of a list that is that bound of names; U+0001 is the octet after NUL. */
const inList = (before: string, bound: string) =>
  bound === '+'
    ? `(${before.slice(0, -1)}\u0001`
    : `${bound.slice(0, 1)}${before}${bound.slice(1)}`;

/** The keys of a slot that tell who is in a range. */
export interface ListKeys {
  readonly people: string;
  readonly names: string;
  readonly order: string;
  readonly lists: string;
}

/** Resolves to the names in a range, in its order. */
export async function namesIn(
  redis: Commands,
  { order, lists }: Pick<ListKeys, 'order' | 'lists'>,
  { list, ...range }: PeopleRange,
): Promise<readonly string[]> {
  const [from, to, limit] = lexRange(range);
  const read = (key: string, first: string, last: string) =>
    redis.command<string[]>('ZRANGE', key, first, last, 'BYLEX', 'LIMIT', '0', limit);
  if (list === undefined) return read(order, from, to);
  const before = `${listText(list)}\0`;
  const members = await read(lists, inList(before, from), inList(before, to));
  return members.map((member) => member.slice(before.length));
}

/** KEYS: names, people. ARGV: names. */
const named = script(`
local ids = redis.call('HMGET', KEYS[1], unpack(ARGV))
for n = 1, #ids do ids[n] = ids[n] or '' end
return redis.call('HMGET', KEYS[2], unpack(ids))
`);

/** Resolves to the records of those with these names; null: there is nobody by now. */
export const recordsOf = async (
  redis: Commands,
  { people, names }: ListKeys,
  some: readonly string[],
): Promise<readonly (string | null)[]> =>
  some.length === 0 ? [] : redis.script<(string | null)[]>(named, [names, people], ...some);

/**
 * Resolves to the people that names are of. Where somebody was removed in between, another one takes their place; a name that
 * stays without a person, as a damaged index may have it, is left out.
 */
export async function namedPage<Name>(
  names: () => Promise<readonly Name[]>,
  find: (some: readonly Name[]) => Promise<readonly (PersonRecord | undefined)[]>,
): Promise<readonly PersonRecord[]> {
  let before = '';
  for (;;) {
    const some = await names();
    const found = await find(some);
    const people = found.filter((person) => person !== undefined);
    const asked = JSON.stringify(some);
    if (people.length === found.length || asked === before) return people;
    before = asked;
  }
}
