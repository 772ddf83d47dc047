import { byOctets } from '#shared/base/name-range.ts';
import { isLooks } from '#shared/stores/people/former-keys.ts';
import type {
  People,
  PeopleRange,
  PersonRecord,
  WholePerson,
} from '#shared/stores/people/people.ts';
import { SLICE, slices } from '#shared/stores/people/slices.ts';
import type { Claims } from '../claims/claims.ts';
import { claimTo, type Claim, isOf, type Thing, thingsOf } from '../claims/things.ts';
import type { Commands } from '../connection/connection.ts';
import { firstOf, type ReadPart } from '../connection/first-of.ts';
import type { Slots } from '../connection/slots.ts';
import { namedPage } from './lists.ts';
import { type PeopleOfSlot, peopleOfSlot } from './people-of-slot.ts';
import { fieldOf } from './verifier-fields.ts';

interface Named {
  readonly name: string;
  readonly slot: string;
}

/** People are in the slots of the digests of their ids. What finds them leads there by a claim (`claims/`). */
export function redisPeople(redis: Commands, slots: Slots, claims: Claims): People {
  const known = new Map<string, PeopleOfSlot>();
  function inSlot(slot: string): PeopleOfSlot {
    const found = known.get(slot) ?? peopleOfSlot(redis, slot);
    known.set(slot, found);
    return found;
  }
  const of = (id: string) => inSlot(claims.slotOf(id));
  const things = (whole: WholePerson) => thingsOf(whole, fieldOf);

  /**
   * Looks for the person with a thing, and once more if it went to somebody else meanwhile. Null: the person has it, and yet
   * nothing is found.
   */
  async function find<T>(
    thing: Thing,
    look: (store: PeopleOfSlot, id: string) => Promise<T | null | undefined>,
  ): Promise<T | undefined> {
    for (;;) {
      const ids = await claims.owners(thing);
      // As much work for what nobody has: the time does not tell.
      for (const id of ids.length === 0 ? [thing.value] : ids) {
        const found = await look(of(id), id);
        if (found !== undefined) return found ?? undefined;
      }
      if (ids.length === 0 || isSame(ids, await claims.owners(thing))) return undefined;
    }
  }

  /** Changes a person who may get things by that. False: somebody has one of them, or the change was refused. */
  async function write(
    id: string,
    wanted: readonly Claim[],
    change: (store: PeopleOfSlot) => Promise<boolean>,
  ): Promise<boolean> {
    if (wanted.length === 0) return change(of(id));
    const done = await claims.claiming(id, wanted, (within) =>
      change(peopleOfSlot(within(redis), claims.slotOf(id))),
    );
    if (done !== true) await claims.release(id, wanted);
    return done === true;
  }

  const namedIn = (range: PeopleRange): readonly ReadPart<Named>[] =>
    slots.all.map((slot) => async (last, limit) => {
      const after = last?.name ?? range.after;
      const names = await inSlot(slot).names({ ...range, after, limit });
      return names.map((name) => ({ name, slot }));
    });

  async function recordsOf(
    names: readonly Named[],
  ): Promise<readonly (PersonRecord | undefined)[]> {
    const bySlot = [...Map.groupBy(names, ({ slot }) => slot)];
    const found = await Promise.all(
      bySlot.map(([slot, some]) => inSlot(slot).named(some.map(({ name }) => name))),
    );
    return found.flat();
  }

  async function page(range: PeopleRange): Promise<readonly PersonRecord[]> {
    const names = () => firstOf(namedIn(range), byName, range.limit);
    return (await namedPage(names, recordsOf)).toSorted(byName);
  }

  async function withoutVerifiers(id: string): Promise<WholePerson | undefined> {
    const person = await of(id).get(id);
    return person && { person, verifiers: [] };
  }

  const getByName = (value: string) =>
    find({ kind: 'name', value }, (store) => store.getByName(value));

  return {
    async add(person, verifiers = [], formerName = 'refused', together = {}) {
      const { unshared, passkey } = together;
      const has = things({ person, verifiers });
      const wanted = [
        ...has,
        ...(passkey ? [{ kind: 'passkey', value: passkey.id } as const] : []),
        ...(unshared === undefined ? [] : [{ kind: 'search', value: unshared } as const]),
      ];
      const all = [
        ...new Map(wanted.map((thing) => [`${thing.kind}\0${thing.value}`, thing])).values(),
      ];
      const claimed = all.map((thing) => claimTo(thing, formerName, together));
      const added = await write(person.id, claimed, (store) =>
        store.add(person, verifiers, formerName, together),
      );
      const lent = all.filter((thing) => thing.kind === 'search' && !has.some(isOf(thing)));
      if (added) await claims.release(person.id, lent);
      return added;
    },
    get: (id) => of(id).get(id),
    getByName,
    getByAlias: (value) => find({ kind: 'alias', value }, (store) => store.getByAlias(value)),
    async search(key) {
      const ids = await claims.owners({ kind: 'search', value: key });
      const people = await Promise.all(ids.map((id) => of(id).get(id)));
      return people.filter(
        (person) => person?.search_keys?.includes(key) === true,
      ) as PersonRecord[];
    },
    getVerifier: (kind, realm, who) =>
      find(
        'name' in who
          ? { kind: 'name', value: who.name }
          : { kind: 'handle', value: fieldOf({ kind, realm }) + who.handle },
        (store, id) => store.getVerifierOf(id, kind, realm, who),
      ),
    getWhole: (id) => of(id).getWhole(id),
    page,
    list: () => slices<PersonRecord>((last) => page({ after: last?.name, limit: SLICE })),
    async replace(person, verifiers) {
      const { id } = person;
      const was = await (verifiers ? of(id).getWhole(id) : withoutVerifiers(id));
      if (was?.person.version !== person.version - 1) return false;
      const had = things(was);
      const { name } = was.person;
      const has = things({ person: { ...person, name }, verifiers: verifiers ?? [] });
      const more = has.filter((thing) => !had.some(isOf(thing)));
      const replaced = await write(
        id,
        more.map((thing) => claimTo(thing, 'refused')),
        (store) => store.replace(person, verifiers),
      );
      if (replaced) {
        await claims.release(
          id,
          had.filter((thing) => !has.some(isOf(thing))),
        );
      }
      return replaced;
    },
    async remove(person) {
      const was = await of(person.id).getWhole(person.id);
      const removed = await of(person.id).remove(person);
      if (removed && was) await claims.release(person.id, things(was));
      return removed;
    },
    async isFormerName(value) {
      const kind = isLooks(value) ? 'search' : 'name';
      const was = await claims.wasSomebodys({ kind, value });
      return was && (await getByName(value)) === undefined;
    },
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  byOctets(a.name, b.name);

const isSame = (some: readonly string[], others: readonly string[]) =>
  some.join('\0') === others.join('\0');
