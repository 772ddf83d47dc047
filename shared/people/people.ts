import { isDeepStrictEqual } from 'node:util';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access/access-store.ts';
import { endAhead, endEverything } from './access/everything.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { turnOf } from '#shared/http/turn.ts';
import type {
  FormerName,
  People,
  PersonRecord,
  Profile,
  VerifierRow,
  WithPerson,
} from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Passwords } from './password.ts';
import { addressAlias, aliasesOf } from './names/aliases.ts';
import { deriveVerifiers, verifierSet } from './derive-verifiers.ts';
import { isKerberosPrincipal } from './names/kerberos-principal.ts';
import { searchKeysOf } from './names/search-keys.ts';
import { usernameCaseMapped } from './names/precis.ts';
import { judgePassword, PASSWORD_FAULTS, type PasswordFault } from './password-rules.ts';
import type { RealmNeeds } from './verifier-kind.ts';
import type { Words } from '#shared/refusals/words.ts';
import { Refused, said } from '#shared/refusals/operations.ts';

/** The parts needed to change the people of the built-in directory. */
export interface PeopleStore extends AccessStore {
  readonly stores: AccessStore['stores'] & Pick<Stores, 'people'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly random: Random;
  /** The realms, which determine the verifiers that are derived from a password besides its hash. */
  readonly realms: readonly RealmNeeds[];
}

/** An event about a person whose id is not known yet. */
export type PersonEvent =
  | {
      readonly kind: 'account.linked' | 'account.unlinked' | 'person.changed';
      readonly what: string;
    }
  | {
      readonly kind: 'password.changed' | 'password.removed' | 'person.disabled' | 'person.enabled';
    };

/** Thrown if a change is not possible; the message tells an operator what to do. */
export class PeopleError extends Refused {
  override readonly name: string = 'PeopleError';
}

/** Thrown if no person has the name. */
export class NoSuchPerson extends PeopleError {
  override readonly name = 'NoSuchPerson';
}

/** Thrown for a value that no person can have; the message describes the value. */
export class Unacceptable extends PeopleError {
  override readonly name: string = 'Unacceptable';
  readonly member: 'name' | 'password' | 'principals';

  constructor(member: Unacceptable['member'], words: Words) {
    super(words);
    this.member = member;
  }
}

/** Thrown if a password may not be set. */
export class PasswordError extends Unacceptable {
  override readonly name = 'PasswordError';
  readonly fault: PasswordFault;

  constructor(fault: PasswordFault) {
    super('password', PASSWORD_FAULTS[fault]);
    this.fault = fault;
  }
}

export interface NewPerson {
  readonly name: string;
  /** Absent if the person signs in without a password. */
  readonly password?: string;
  readonly profile?: Profile;
  /** True if the first start created the person. */
  readonly demo?: boolean;
}

/** Adds a person. Throws `PeopleError` if the name or the password is unacceptable or the name is taken. */
export async function addPerson(
  store: PeopleStore,
  { name, password, profile, demo }: NewPerson,
  former?: FormerName,
): Promise<PersonRecord> {
  const mapped = newName(name);
  const person = {
    id: randomId(store.random),
    name: mapped,
    ...(password !== undefined && (await secretsOf(store, mapped, password))),
    ...(profile && { profile }),
    ...(demo && { demo }),
    created_at: store.clock.now(),
  };
  return keepPerson(store, person, former);
}

/** Returns the stored form of a name. Throws `PeopleError` if no person can have the name. */
export function newName(name: string): string {
  const mapped = usernameCaseMapped(name);
  if (mapped === undefined) {
    throw new Unacceptable('name', said('person-name'));
  }
  return mapped;
}

/** Returns the compared form of a password. Throws `PasswordError` if the password may not be set. */
export async function newPasswordText(password: string): Promise<string> {
  const judged = await judgePassword(password);
  if ('fault' in judged) throw new PasswordError(judged.fault);
  return judged.enforced;
}

/** A person's record without the members that are derived from others or from its history. */
export interface NewRecord extends Omit<PersonRecord, 'aliases' | 'search_keys' | 'version'> {
  /** All verifiers; without this member they stay as they are. */
  readonly verifiers?: readonly VerifierRow[];
}

/** Adds a person with this record. Throws `PeopleError` if the name, an alias or a value of `together` is taken. */
export async function keepPerson(
  store: Pick<PeopleStore, 'stores' | 'recorder'>,
  person: NewRecord,
  former: FormerName = 'refused',
  together?: WithPerson,
  ...more: readonly AuditEvent[]
): Promise<PersonRecord> {
  const { record, verifiers } = kept(person, 0);
  const { id } = record;
  const passkey = together?.passkey;
  const events: readonly AuditEvent[] = [
    { kind: 'person.added', person: id },
    ...(passkey ? [{ kind: 'passkey.added', person: id, key: passkey.id } as const] : []),
    ...more,
  ];
  if (!(await changing(store, 'people', ...events).add(record, verifiers, former, together))) {
    throw await taken(store.stores.people, record);
  }
  return record;
}

/** Finds the person with a name, in any form of the name. Throws `PeopleError` if there is none. */
export async function personNamed(
  people: Pick<People, 'getByName'>,
  name: string,
): Promise<PersonRecord> {
  const person = await people.getByName(usernameCaseMapped(name) ?? '');
  if (person === undefined) throw new NoSuchPerson(said('no-person', { name }));
  return person;
}

/**
 * Gives a person a new password, everywhere at once, and ends all access that the old password opened, even if the
 * process ends before it is done.
 */
export async function setPassword(
  store: PeopleStore,
  name: string,
  password: string,
): Promise<PersonRecord> {
  const person = await personNamed(store.stores.people, name);
  const secrets = await secretsOf(store, person.name, password);
  await endAhead(store, person.id);
  const edit = (now: PersonRecord) => ({ ...now, ...secrets });
  return changePerson(store, person.name, edit, { kind: 'password.changed' });
}

/**
 * Replaces the principals by which Kerberos identifies a person, and ends all access of the person. Throws
 * `PeopleError` for an invalid principal or one of another person.
 */
export async function setKerberos(
  store: PeopleStore,
  name: string,
  principals: readonly string[],
): Promise<PersonRecord> {
  const wrong = principals.find((principal) => !isKerberosPrincipal(principal));
  if (wrong !== undefined) {
    throw new Unacceptable('principals', said('principal', { principal: JSON.stringify(wrong) }));
  }
  const kerberos = [...new Set(principals)];
  const edit = (person: PersonRecord) => ({ ...person, kerberos });
  return changePerson(store, name, edit, { kind: 'person.changed', what: 'kerberos' });
}

/**
 * Prevents a person from signing in, and ends all their access, even if the process ends before it is done. Of
 * several calls at the same time one records the event; each ends access that another call may not have ended yet.
 */
export async function disablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  const there = await personNamed(store.stores.people, name);
  if (!there.disabled) await endAhead(store, there.id);
  const edit = (person: PersonRecord) => ({ ...person, disabled: true });
  return changePerson(store, name, edit, ({ disabled }) =>
    disabled ? undefined : { kind: 'person.disabled' },
  );
}

/** Lets a person sign in again; ended access stays ended. */
export async function enablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  const edit = (person: PersonRecord) => ({ ...person, disabled: false });
  return changePerson(store, name, edit, { kind: 'person.enabled' });
}

/**
 * Replaces the record, then ends all access, so that a sign-in by the old record has an earlier generation. In the
 * other order the old record could authenticate the person between the two steps. Throws `PeopleError` if the person
 * does not exist or an alias is taken.
 */
export async function changePerson(
  store: PeopleStore,
  name: string,
  edit: (person: PersonRecord) => NewRecord,
  event: PersonEvent | EventOf,
  ...more: readonly AuditEvent[]
): Promise<PersonRecord> {
  const record = await replacePerson(store, name, edit, event, ...more);
  await endEverything(store, record.id);
  return record;
}

/** Returns the event of a change; undefined if nothing changes, and then nothing is written. */
export type EventOf = (was: PersonRecord, now: PersonRecord) => PersonEvent | undefined;

/**
 * Replaces the record only, for changes that end no access. `more` is recorded with `event`. Rejects with the error
 * of `edit`.
 */
export async function replacePerson(
  store: Pick<PeopleStore, 'recorder' | 'clock'> & { readonly stores: Pick<Stores, 'people'> },
  name: string,
  edit: (person: PersonRecord) => NewRecord,
  event: PersonEvent | EventOf,
  ...more: readonly AuditEvent[]
): Promise<PersonRecord> {
  const { people } = store.stores;
  let refused: PersonRecord | undefined;
  for (;;) {
    const person = await personNamed(people, name);
    // The record was not changed meanwhile, so a conflict was not the reason.
    if (refused?.version === person.version + 1) throw await taken(people, refused);
    const edited = edit(person);
    const changed_at = { profile_changed_at: store.clock.now() };
    const isSame = isDeepStrictEqual(edited.profile, person.profile);
    const { record, verifiers } = kept(
      { ...edited, ...(!isSame && changed_at) },
      person.version + 1,
    );
    const happened = typeof event === 'function' ? event(person, record) : event;
    if (happened === undefined) return person;
    const recorded = changing(store, 'people', { ...happened, person: person.id }, ...more);
    if (await recorded.replace(record, verifiers)) return record;
    refused = record;
  }
}

/** Returns the record with its derived members. */
function kept({ verifiers, ...person }: NewRecord, version: number) {
  const verifier_set = verifiers ? verifierSet(verifiers) : person.verifier_set;
  const record = {
    ...person,
    ...(verifier_set && { verifier_set }),
    aliases: aliasesOf(person),
    search_keys: searchKeysOf(person),
    version,
  };
  return { record, verifiers };
}

/** Returns the reason for which the store refused a record that was not outdated. */
async function taken(
  people: Pick<People, 'getByName' | 'getByAlias' | 'isFormerName'>,
  { id, name, aliases = [], profile: { emails = [] } = {} }: PersonRecord,
): Promise<PeopleError> {
  const namesake = await people.getByName(name);
  if (namesake !== undefined && namesake.id !== id) {
    return new PeopleError(said('name-taken', { name }));
  }
  for (const { address } of emails) {
    const owner = await people.getByAlias(addressAlias(address));
    if (owner !== undefined && owner.id !== id && aliases.includes(addressAlias(address))) {
      return new PeopleError(said('address-taken', { address, owner: owner.name }));
    }
  }
  for (const alias of aliases) {
    const owner = await people.getByAlias(alias);
    if (owner !== undefined && owner.id !== id) {
      return new PeopleError(said('alias-taken', { alias, owner: owner.name }));
    }
  }
  if (await people.isFormerName(name)) return formerName(name);
  return new PeopleError(said('person-raced', { name }));
}

export const formerName = (name: string) => new PeopleError(said('name-former', { name }));

/** Derives everything that is stored for a password. Throws `PasswordError` if the password may not be set. */
export async function secretsOf(
  { passwords, realms, random }: PeopleStore,
  name: string,
  password: string,
): Promise<Pick<NewRecord, 'password_hash' | 'verifiers'>> {
  const enforced = await newPasswordText(password);
  return {
    password_hash: await passwords.hash(turnOf(name), enforced),
    verifiers: await deriveVerifiers(realms, { name, password: enforced }, random),
  };
}
