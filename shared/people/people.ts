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
  /** The realms, which say what is derived from a password beside its hash. */
  readonly realms: readonly RealmNeeds[];
}

/** An event about a person whose id is not known yet. */
type PersonEvent =
  | { readonly kind: 'person.changed'; readonly what: string }
  | {
      readonly kind: 'password.changed' | 'password.removed' | 'person.disabled' | 'person.enabled';
    };

/** Thrown if a change is not possible; the message tells an operator what to do. */
export class PeopleError extends Refused {
  override readonly name: string = 'PeopleError';
}

/** Thrown if there is no person of a name. */
export class NoSuchPerson extends PeopleError {
  override readonly name = 'NoSuchPerson';
}

/** Thrown if a value is none that a person can have; the message says what it is. */
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
  /** Absent: no password lets them in. */
  readonly password?: string;
  readonly profile?: Profile;
  /** Made by the first start. */
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

/** Returns a name as it is kept. Throws `PeopleError` if nobody can have it. */
export function newName(name: string): string {
  const mapped = usernameCaseMapped(name);
  if (mapped === undefined) {
    throw new Unacceptable('name', said('person-name'));
  }
  return mapped;
}

/** Returns a password as it is compared. Throws `PasswordError` if nobody may have it. */
export async function newPasswordText(password: string): Promise<string> {
  const judged = await judgePassword(password);
  if ('fault' in judged) throw new PasswordError(judged.fault);
  return judged.enforced;
}

/** A person's record without the members that follow from the others or from its history. */
export interface NewRecord extends Omit<PersonRecord, 'aliases' | 'search_keys' | 'version'> {
  /** All verifiers; a change without them leaves them as they are. */
  readonly verifiers?: readonly VerifierRow[];
}

/** Adds a person with this record. Throws `PeopleError` if their name, an alias or what is to come `together` is taken. */
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

/** Finds the person of a name, in any form of it. Throws `PeopleError` if there is none. */
export async function personNamed(
  people: Pick<People, 'getByName'>,
  name: string,
): Promise<PersonRecord> {
  const person = await people.getByName(usernameCaseMapped(name) ?? '');
  if (person === undefined) throw new NoSuchPerson(said('no-person', { name }));
  return person;
}

/**
 * Gives a person a new password, everywhere at once, and ends everything that the old one opened, also if the process ends
 * before it is done.
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
 * Names the principals that Kerberos knows a person by, in place of those before, and ends everything
 * of theirs. Throws `PeopleError` for one that is no principal or belongs to somebody else.
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
 * Prevents a person from signing in, and ends everything of theirs, also if the process ends before it is done. Of several at
 * once one is the event; each of them ends what another may not have ended yet.
 */
export async function disablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  const there = await personNamed(store.stores.people, name);
  if (!there.disabled) await endAhead(store, there.id);
  const edit = (person: PersonRecord) => ({ ...person, disabled: true });
  return changePerson(store, name, edit, ({ disabled }) =>
    disabled ? undefined : { kind: 'person.disabled' },
  );
}

/** Lets a person sign in again; what was ended stays ended. */
export async function enablePerson(store: PeopleStore, name: string): Promise<PersonRecord> {
  const edit = (person: PersonRecord) => ({ ...person, disabled: false });
  return changePerson(store, name, edit, { kind: 'person.enabled' });
}

/**
 * Replaces a person's profile. Nothing ends: a profile lets nobody in, and is read at each request.
 * Throws `PeopleError` when there is no such person.
 */
export async function setProfile(
  store: Pick<PeopleStore, 'stores' | 'recorder'>,
  name: string,
  edit: (profile: Profile) => Profile,
): Promise<PersonRecord> {
  const editProfile = ({ profile: former = {}, ...person }: PersonRecord) => {
    const profile = edit(former);
    return { ...person, ...(Object.keys(profile).length > 0 && { profile }) };
  };
  return replacePerson(store, name, editProfile, { kind: 'person.changed', what: 'profile' });
}

/**
 * Replaces the record, then ends everything, so that anybody who was let in by the old record has an earlier generation.
 * In the other order the old record could let somebody in between the two steps. Throws `PeopleError` if there is no
 * such person or an alias is taken.
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

/** Says what a change was. Undefined: it was none, and nothing is written. */
type EventOf = (was: PersonRecord, now: PersonRecord) => PersonEvent | undefined;

/**
 * Replaces the record alone: for changes after which nothing has to end. `more` is recorded with `event`. Rejects with what
 * `edit` throws.
 */
export async function replacePerson(
  store: Pick<PeopleStore, 'recorder'> & { readonly stores: Pick<Stores, 'people'> },
  name: string,
  edit: (person: PersonRecord) => NewRecord,
  event: PersonEvent | EventOf,
  ...more: readonly AuditEvent[]
): Promise<PersonRecord> {
  const { people } = store.stores;
  let refused: PersonRecord | undefined;
  for (;;) {
    const person = await personNamed(people, name);
    // Nobody changed the record meanwhile, so a conflict was not the reason.
    if (refused?.version === person.version + 1) throw await taken(people, refused);
    const { record, verifiers } = kept(edit(person), person.version + 1);
    const happened = typeof event === 'function' ? event(person, record) : event;
    if (happened === undefined) return person;
    const recorded = changing(store, 'people', { ...happened, person: person.id }, ...more);
    if (await recorded.replace(record, verifiers)) return record;
    refused = record;
  }
}

/** Returns the record with the members that follow from the others. */
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

/** Returns why the store refused a record that was not outdated. */
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

/** Derives all that is stored of a password. Throws `PasswordError` if it may not be set. */
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
