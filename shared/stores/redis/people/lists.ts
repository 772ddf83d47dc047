import { listText } from '#shared/stores/people/list-text.ts';
import type { PeopleRange, PersonRecord } from '#shared/stores/people/people.ts';
import { type Commands, script } from '../connection/connection.ts';
import { lexRange } from '../connection/name-range.ts';

/** Returns the lists that a person is in. */
export const LISTS_OF = `
local function listsOf(record)
  if record == '' then return {} end
  local person = cjson.decode(record)
  local lists = { person.disabled == true and 'state:disabled' or 'state:active' }
  if person.admin == true then lists[#lists + 1] = 'state:admin' end
  for _, group in ipairs(person.profile and person.profile.groups or {}) do lists[#lists + 1] = 'group:' .. group end
  return lists
end
`;

/**
 * KEYS: lists, names, people. ARGV: where the members begin and end, how many, and the list. Whoever is not in it any more
 * goes: an older version that still runs removes and changes people, and knows of no lists.
 */
const namesInList = script(`
${LISTS_OF}
local function isListed(record)
  for _, list in ipairs(record and listsOf(record) or {}) do
    if list == ARGV[4] then return true end
  end
  return false
end
while true do
  local found, gone = {}, {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])) do
    local name = string.sub(member, #ARGV[4] + 2)
    local id = redis.call('HGET', KEYS[2], name)
    if isListed(id and redis.call('HGET', KEYS[3], id)) then found[#found + 1] = name else gone[#gone + 1] = member end
  end
  if #gone == 0 then return found end
  redis.call('ZREM', KEYS[1], unpack(gone))
end
`);

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
  { people, names, order, lists }: ListKeys,
  { list, ...range }: PeopleRange,
): Promise<readonly string[]> {
  const [from, to, limit] = lexRange(range);
  if (list === undefined) {
    return redis.command<string[]>('ZRANGE', order, from, to, 'BYLEX', 'LIMIT', '0', limit);
  }
  const text = listText(list);
  const ends = [inList(`${text}\0`, from), inList(`${text}\0`, to)] as const;
  return redis.script<string[]>(namesInList, [lists, names, people], ...ends, limit, text);
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
