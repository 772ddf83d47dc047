import { isDeepStrictEqual } from 'node:util';
import { type Random, randomId } from '#shared/base/random.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Managed, Origin, PersonRecord, Profile } from '#shared/stores/people/people.ts';
import { changeProfile, type ProfileStore } from './change-profile.ts';
import { addressAlias, identityAlias } from './names/aliases.ts';
import { chosenName, isReservedName } from './names/chosen-name.ts';
import { looksSearchKey } from './names/search-keys.ts';
import { MANAGED } from './identities.ts';
import { keepPerson, NoSuchPerson, PeopleError, type PeopleStore } from './people.ts';
import { judgeName } from './registration.ts';

/** A person who comes from a source, as the source describes them. */
export interface Arrival extends Omit<Origin, 'managed'> {
  /** Proposals for the name with which the person signs in here, best first. */
  readonly names: readonly string[];
  /** The parts of the profile that the source owns. */
  readonly profile: Pick<Profile, Managed>;
}

/**
 * Why a person cannot come in. `unknown`: no account here belongs to the account there; `address`: the source says that
 * they have proved an address, and another person here has proved it.
 */
export type NotArrived = 'unknown' | 'address';

/** How many numbers are tried behind a name that is taken. */
const NUMBERED = 20;

type ArrivalStore = ProfileStore & PeopleStore;

/**
 * Finds the person of an arrival by source and subject alone: a name or an address never makes two people one. Updates
 * what the source owns. With `newcomers` an unknown person gets an account; of several arrivals at once exactly one
 * makes it. `reserved`: names that no newcomer gets.
 */
export async function arrive(
  store: ArrivalStore,
  arrival: Arrival,
  { newcomers, reserved }: { readonly newcomers: boolean; readonly reserved: readonly string[] },
): Promise<PersonRecord | NotArrived> {
  const { people } = store.stores;
  const there = await people.getByAlias(identityAlias(arrival));
  if (there !== undefined) return updated(store, there, arrival);
  return newcomers ? added(store, arrival, reserved) : 'unknown';
}

async function updated(
  store: ArrivalStore,
  person: PersonRecord,
  arrival: Arrival,
): Promise<PersonRecord | NotArrived> {
  const { source, subject, profile } = arrival;
  const { origin } = person;
  // A linked account is a way to sign in, and owns nothing.
  if (origin?.source !== source || origin.subject !== subject) return person;
  const edit = (now: PersonRecord) => {
    // Meanwhile the person may have been removed, and the name given to another person.
    if (now.id !== person.id) throw new NoSuchPerson(said('no-person', { name: person.name }));
    return {
      ...now,
      origin: originOf(arrival),
      profile: { ...without(now.profile, now.origin?.managed), ...profile },
    };
  };
  const event = (was: PersonRecord, now: PersonRecord) =>
    isDeepStrictEqual([was.profile, was.origin], [now.profile, now.origin])
      ? undefined
      : ({ kind: 'person.changed', what: `from ${source}` } as const);
  try {
    return await changeProfile(store, person.name, edit, event);
  } catch (error) {
    if (error instanceof NoSuchPerson) return 'unknown';
    if (error instanceof PeopleError) return 'address';
    throw error;
  }
}

async function added(
  store: ArrivalStore,
  arrival: Arrival,
  reserved: readonly string[],
): Promise<PersonRecord | NotArrived> {
  const { people } = store.stores;
  for (const proposed of proposals(arrival.names, reserved, store.random)) {
    const judged = await judgeName(store, proposed, reserved);
    if ('fault' in judged) continue;
    const { name } = judged;
    const person = {
      id: randomId(store.random),
      name,
      profile: arrival.profile,
      origin: originOf(arrival),
      created_at: store.clock.now(),
    };
    try {
      return await keepPerson(store, person, 'refused', { unshared: looksSearchKey(name) });
    } catch (error) {
      if (!(error instanceof PeopleError)) throw error;
      const there = await people.getByAlias(identityAlias(arrival));
      if (there !== undefined) return there;
      const verified = arrival.profile.emails?.filter((email) => email.verified) ?? [];
      for (const { address } of verified) {
        if ((await people.getByAlias(addressAlias(address))) !== undefined) return 'address';
      }
    }
  }
  throw new Error('no free name was found for a newcomer');
}

/** Yields names to try: the first proposal that is not reserved, the same with a number behind it, then a random name. */
function* proposals(
  names: readonly string[],
  reserved: readonly string[],
  random: Random,
): Generator<string> {
  const name = names
    .map(plainName)
    .find((one) => one !== undefined && !isReservedName(one, reserved));
  if (name !== undefined) {
    yield name;
    for (let number = 2; number <= NUMBERED; number += 1) yield `${name.slice(0, 58)}-${number}`;
  }
  yield `person-${random(6).toString('hex')}`;
}

/**
 * Returns the letters and digits of a proposal in the form that people may choose: without accents, and of an address
 * only the part before the sign `@`.
 */
const plainName = (proposal: string) =>
  chosenName(
    (proposal.split('@')[0] ?? '')
      .slice(0, 64)
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replaceAll(/([._-])[._-]+/g, '$1')
      .replaceAll(/^[._-]|[._-]$/g, ''),
  );

/** The source owns the parts of the profile that it names. */
const originOf = ({ source, subject, profile }: Arrival): Origin => ({
  source,
  subject,
  managed: MANAGED.filter((part) => profile[part] !== undefined),
});

const without = (profile: Profile = {}, parts: readonly Managed[] = []): Profile =>
  Object.fromEntries(
    Object.entries(profile).filter(([part]) => !parts.some((one) => one === part)),
  );
