import type {
  FormerName,
  People,
  PeopleRange,
  PersonRecord,
  VerifiedPerson,
  VerifierName,
  VerifierRow,
  WithPerson,
} from '#shared/stores/people/people.ts';
import { formerKeys } from '#shared/stores/people/former-keys.ts';
import { NOBODY, personFrom } from '#shared/stores/people/person-text.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import { passkeyKeys, placeOf } from '../connection/passkey-places.ts';
import { put, remove } from './changes.ts';
import { namedPage, namesIn, recordsOf } from './lists.ts';
import { fieldOf, keptOf, rowOf } from './verifier-fields.ts';

/**
 * KEYS: names or aliases, people. ARGV: name or alias. One look at both, so that an alias that goes from one
 * person to another finds one of them. As much work, and an answer as long, for what nobody has: the time does not
 * tell.
 */
const findBy = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1])
local person = redis.call('HGET', KEYS[2], id or '')
return { person or '${NOBODY}', person and 1 or 0 }
`);

/** KEYS: search keys, people. ARGV: what the members of a key begin with, and what comes after all of them. */
const searchBy = script(`
local members = redis.call('ZRANGE', KEYS[1], '[' .. ARGV[1], '(' .. ARGV[2], 'BYLEX', 'LIMIT', 0, ${SLICE})
local people = {}
for _, member in ipairs(members) do
  local person = redis.call('HGET', KEYS[2], string.sub(member, #ARGV[1] + 1))
  if person then people[#people + 1] = person end
end
return people
`);

/** In place of what is kept of a verifier. */
const NOTHING_KEPT = `["${'-'.repeat(64)}"]`;

/**
 * KEYS: names or handles, people, the verifiers of a person. ARGV: name or handle, the person, field of the verifier. As much
 * work, and an answer as long, for who is not there. Replies at the end with whether name or handle is theirs, and the verifier kept.
 */
const findVerifier = script(`
local id = redis.call('HGET', KEYS[1], ARGV[1])
local person = redis.call('HGET', KEYS[2], ARGV[2])
local kept = redis.call('HGET', KEYS[3], ARGV[3])
local value = cjson.decode(kept or '${NOTHING_KEPT}')[1]
local isTheirs = id == ARGV[2] and person
return { person or '${NOBODY}', value, isTheirs and 1 or 0, kept and 1 or 0 }
`);

/** KEYS: a person's verifiers, people. ARGV: id. */
const findWhole = script(`
local person = redis.call('HGET', KEYS[2], ARGV[1])
return person and { person, redis.call('HGETALL', KEYS[1]) }
`);

/** The part of `People` that one slot has, and what a list of all is put together from. */
export interface PeopleOfSlot extends People {
  /** The names in a range, in its order. */
  names(range: PeopleRange): Promise<readonly string[]>;
  /** Those with these names; undefined: there is nobody by now. */
  named(names: readonly string[]): Promise<readonly (PersonRecord | undefined)[]>;
  /** As `getVerifier`, of the person with this id, if the name or handle is theirs. Null: it is, and nothing is kept of them. */
  getVerifierOf(
    id: string,
    kind: string,
    realm: string,
    who: VerifierName,
  ): Promise<VerifiedPerson | null | undefined>;
}

/**
 * People of one slot, with all that is theirs, so that one script writes it. Its keys, behind the slot:
 *
 * | key | what |
 * |---|---|
 * | `:people` | a hash, id to JSON |
 * | `:names`, `:aliases`, `:handles` | hashes, each to id |
 * | `:names:order` | a sorted set |
 * | `:people:lists` | a sorted set, a member `LIST NUL NAME` for each group and state of each person |
 * | `:people:search` | a sorted set, a member `KEY NUL ID` for each search key of each person |
 * | `:verifiers:{id}` | a hash (verifier-fields.ts) |
 * | `:names:former` | a set, digests of the names of people who were removed, and of their looks |
 */
export function peopleOfSlot(redis: Commands, slot: string): PeopleOfSlot {
  const people = `${slot}:people`;
  const names = `${slot}:names`;
  const order = `${slot}:names:order`;
  const byAlias = `${slot}:aliases`;
  const handles = `${slot}:handles`;
  const former = `${slot}:names:former`;
  const searchKeys = `${slot}:people:search`;
  const lists = `${slot}:people:lists`;
  const listKeys = { people, names, order, lists };
  const verifiersOf = (id: string) => `${slot}:verifiers:${id}`;
  const parsed = (person: string): PersonRecord => JSON.parse(person);
  const find = (id: string) => redis.command<string | null>('HGET', people, id);

  async function getBy(index: string, key: string): Promise<PersonRecord | undefined> {
    const [text, found] = await redis.script<[string, number]>(findBy, [index, people], key);
    const person = parsed(text);
    return found === 1 ? person : undefined;
  }

  const keysOf = (id: string) =>
    [
      people,
      names,
      order,
      byAlias,
      handles,
      verifiersOf(id),
      former,
      searchKeys,
      ...passkeyKeys(slot),
      lists,
    ] as const;

  async function write(
    person: PersonRecord,
    was: string,
    verifiers: readonly VerifierRow[] | undefined,
    formerName: FormerName = 'refused',
    { unshared, passkey }: WithPerson = {},
  ): Promise<boolean> {
    const { id, name, aliases = [] } = person;
    const done = await redis.durable<number>(
      put,
      keysOf(id),
      id,
      name,
      JSON.stringify(person),
      was,
      String(verifiers !== undefined),
      digestOf(name),
      formerName,
      ...(unshared === undefined ? ['', ''] : [`[${unshared}\0`, `(${unshared}\u0001`]),
      ...(passkey ? [passkey.id, JSON.stringify(passkey), placeOf(passkey)] : ['', '', '']),
      String(aliases.length),
      unshared === undefined ? '' : digestOf(unshared),
      ...aliases,
      ...(verifiers ?? []).flatMap((row) => [fieldOf(row), keptOf(row)]),
    );
    return done === 1;
  }

  async function named(some: readonly string[]): Promise<readonly (PersonRecord | undefined)[]> {
    const found = await recordsOf(redis, listKeys, some);
    return found.map((record) => (record === null ? undefined : parsed(record)));
  }

  const page = (range: PeopleRange) =>
    namedPage(
      () => namesIn(redis, listKeys, range),
      (some) => named(some),
    );

  async function getVerifierOf(
    id: string,
    kind: string,
    realm: string,
    who: VerifierName,
  ): Promise<VerifiedPerson | null | undefined> {
    const field = fieldOf({ kind, realm });
    const [index, key] = 'name' in who ? [names, who.name] : [handles, field + who.handle];
    const [text, value, isTheirs, isKept] = await redis.script<[string, string, number, number]>(
      findVerifier,
      [index, people, verifiersOf(id)],
      key,
      id,
      field,
    );
    const person = parsed(text);
    if (isTheirs === 0) return undefined;
    return isKept === 1 ? { person, value } : null;
  }

  return {
    add: (person, verifiers = [], formerName = 'refused', together) =>
      write(person, '', verifiers, formerName, together),
    get: async (id) => personFrom(await find(id)),
    getByName: (name) => getBy(names, name),
    getByAlias: (alias) => getBy(byAlias, alias),
    async search(key) {
      // NUL ends the key; U+0001 is the next octet.
      const ends = [`${key}\0`, `${key}\u0001`] as const;
      const found = await redis.script<string[]>(searchBy, [searchKeys, people], ...ends);
      return found.map(parsed);
    },
    async getVerifier(kind, realm, who) {
      const [index, key] =
        'name' in who ? [names, who.name] : [handles, fieldOf({ kind, realm }) + who.handle];
      const id = await redis.command<string | null>('HGET', index, key);
      return (await getVerifierOf(id ?? '', kind, realm, who)) ?? undefined;
    },
    getVerifierOf,
    async getWhole(id) {
      const found = await redis.script<[string, string[]] | null>(
        findWhole,
        [verifiersOf(id), people],
        id,
      );
      if (found === null) return undefined;
      const [person, kept] = found;
      const verifiers = kept.flatMap((field, n) =>
        n % 2 === 0 ? [rowOf(field, kept[n + 1] ?? '')] : [],
      );
      return { person: parsed(person), verifiers };
    },
    names: (range) => namesIn(redis, listKeys, range),
    named,
    page,
    list: () => slices<PersonRecord>((last) => page({ after: last?.name, limit: SLICE })),
    async replace(person, verifiers) {
      const was = await find(person.id);
      if (was === null) return false;
      const { name, version } = parsed(was);
      if (version !== person.version - 1) return false;
      return write({ ...person, name }, was, verifiers);
    },
    async remove({ id, version }) {
      const was = await find(id);
      const person = personFrom(was);
      const removed =
        was !== null &&
        person?.version === version &&
        (await redis.durable<number>(
          remove,
          keysOf(id),
          id,
          person.name,
          was,
          ...formerKeys(person).map(digestOf),
        ));
      // An earlier removal may have been answered with a failure.
      if (removed !== 1) await redis.settled(people);
      return removed === 1;
    },
    isFormerName: async (name) =>
      (await redis.command<number>('SISMEMBER', former, digestOf(name))) === 1,
  };
}
