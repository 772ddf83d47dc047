import { mailKey } from '#shared/stores/people/mail-key.ts';
import { type Connection, script } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

/** A person as schema 9 has them. */
interface Person {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly profile?: {
    readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
  };
  readonly aliases?: readonly string[];
  readonly search_keys?: readonly string[];
}

/**
 * KEYS: people, search keys, aliases. ARGV: id, the record that is replaced, its successor, how many members of search keys
 * go, those, how many come, those, how many aliases go, those, and the aliases that come. 0: somebody changed the record, or
 * got one of the aliases, in between.
 */
const move = script(`
local id, at = ARGV[1], 4
local function list(last)
  local items = {}
  for n = at, last do items[#items + 1] = ARGV[n] end
  at = last + 1
  return items
end
local function counted()
  at = at + 1
  return list(at - 1 + ARGV[at - 1])
end
local keysGone, keys, aliasesGone = counted(), counted(), counted()
local aliases = list(#ARGV)
if redis.call('HGET', KEYS[1], id) ~= ARGV[2] then return 0 end
for _, alias in ipairs(aliases) do
  local owner = redis.call('HGET', KEYS[3], alias)
  if owner and owner ~= id then return 0 end
end
redis.call('HSET', KEYS[1], id, ARGV[3])
for _, key in ipairs(keysGone) do redis.call('ZREM', KEYS[2], key) end
for _, key in ipairs(keys) do redis.call('ZADD', KEYS[2], 0, key) end
for _, alias in ipairs(aliasesGone) do
  if redis.call('HGET', KEYS[3], alias) == id then redis.call('HDEL', KEYS[3], alias) end
end
for _, alias in ipairs(aliases) do redis.call('HSET', KEYS[3], alias, id) end
return 1
`);

/**
 * Schema 10: one mailbox is one alias and one search key, whichever way its domain is written; of several who have verified it,
 * the eldest account keeps it.
 */
export async function giveMailboxesToOne(redis: Connection, prefix: string): Promise<void> {
  const keys = (['people', 'people:search', 'aliases'] as const).map(
    (name) => `{${prefix}}:${name}`,
  ) as [string, string, string];
  const [people, , aliases] = keys;

  const find = async (id: string) => redis.command<string | null>('HGET', people, id);

  /** Writes the successor of a record, in which the addresses of others are not verified; false: it was changed in between. */
  async function written(id: string, was: string, others: ReadonlySet<string>): Promise<boolean> {
    const person: Person = JSON.parse(was);
    const next = successor(person, others);
    const record = JSON.stringify(next);
    if (record === was) return true;
    const members = ({ search_keys = [] }: Person) => search_keys.map((key) => `${key}\0${id}`);
    const counted = (items: readonly string[]) => [String(items.length), ...items];
    const done = await redis.durable<number>(
      move,
      keys,
      id,
      was,
      record,
      ...counted(members(person)),
      ...counted(members(next)),
      ...counted(person.aliases ?? []),
      ...(next.aliases ?? []),
    );
    return done === 1;
  }

  /** Takes an alias from a younger account, which is moved first: so all its other aliases are its own. */
  async function yielded(id: string, alias: string): Promise<boolean> {
    await moved(id);
    const was = await find(id);
    return was !== null && written(id, was, new Set([alias]));
  }

  async function moved(id: string): Promise<void> {
    const was = await find(id);
    if (was === null) return;
    const person: Person = JSON.parse(was);
    const others = new Set<string>();
    for (const alias of verifiedIn(person)) {
      const owner = await redis.command<string | null>('HGET', aliases, alias);
      const theirs = owner === null || owner === id ? null : await find(owner);
      if (owner === null || theirs === null) continue;
      if (isElder(JSON.parse(theirs), person)) others.add(alias);
      else if (!(await yielded(owner, alias))) return moved(id);
    }
    if (!(await written(id, was, others))) await moved(id);
  }

  for await (const slice of scan(redis, people)) {
    for (const [id] of slice) await moved(id);
  }
}

const isElder = (one: Person, other: Person): boolean =>
  one.created_at === other.created_at ? one.id < other.id : one.created_at < other.created_at;

const aliasOf = (address: string) => `address:${mailKey(address)}`;

const verifiedIn = ({ profile }: Person): readonly string[] => [
  ...new Set(
    (profile?.emails ?? [])
      .filter(({ verified }) => verified)
      .map(({ address }) => aliasOf(address)),
  ),
];

function successor(person: Person, others: ReadonlySet<string>): Person {
  const { name, profile, aliases = [] } = person;
  const emails = profile?.emails?.map((email) =>
    others.has(aliasOf(email.address)) ? { ...email, verified: false } : email,
  );
  const next = { ...person, ...(emails && { profile: { ...profile, emails } }) };
  const own = [...aliases.filter((alias) => !alias.startsWith('address:')), ...verifiedIn(next)];
  return {
    ...next,
    ...((person.aliases || own.length > 0) && { aliases: own }),
    search_keys: [
      ...new Set((emails ?? []).map(({ address }) => `email:${mailKey(address)}`)),
      `looks:${looksOf(name)}`,
    ],
  };
}

const looksOf = (name: string) =>
  name
    .replaceAll(/[._-]/g, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1i]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
