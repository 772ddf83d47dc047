import { hash } from 'node:crypto';
import { randomId } from '#shared/base/random.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import { isVerifiedOfAnother } from './address-links.ts';
import { chosenName, isReservedName } from './names/chosen-name.ts';
import { addressKey } from './names/mail-address.ts';
import { looksSearchKey } from './names/search-keys.ts';
import { createOneTimeLinks, type OneTimeLinksOptions } from './one-time-links.ts';
import { keepPerson, PeopleError, type PeopleStore, secretsOf } from './people.ts';

/** Seconds for which a mailed link is valid: people read their mail once a day. */
const MAILED = 86_400;
/** Seconds for which a link is valid that was shown to an operator. */
const SHOWN = 900;
/** Seconds for which the link of the first administrator is valid. */
const FIRST = 3600;

/** The name in the audit log of the first administrator's link. */
export const FIRST_ADMINISTRATOR = 'first administrator';

/** The path at the authorization server that precedes the secret of such a link. */
export const REGISTRATION_PATH = '/register/';

/** The right of a person without an account to create one. */
export interface Registration {
  /** The id of the future account, so that one link creates one account. */
  readonly id: string;
  /** The address; absent for the first administrator's link, which has none. */
  readonly address?: string;
  /** True if the link was sent to the address: a holder of the link can read its mail. */
  readonly mailed: boolean;
  /**
   * True if the person requested the link. It does not replace an operator's link, and is valid only while
   * registration is open.
   */
  readonly asked?: boolean;
}

export interface MadeLink {
  readonly secret: string;
  /** The life of the link in seconds. */
  readonly life: number;
}

/** True for the link of the first administrator. */
export const isOfFirst = ({ address }: Pick<Registration, 'address'>) => address === undefined;

/** One-time links by which a person creates an account. */
export interface RegistrationLinks {
  /** Makes a link, which replaces the last link of the same address and origin (person or operator). */
  make(address: string, origin: Omit<Registration, 'id' | 'address'>): Promise<MadeLink>;
  /** Makes the link of the first administrator, which replaces the last such link. */
  makeFirst(): Promise<MadeLink & Pick<Registration, 'id'>>;
  /** Whether the first administrator has a link that is neither used nor too old. */
  hasFirst(): Promise<boolean>;
  /** Ends the link of the first administrator, since there is an administrator. */
  endFirst(): Promise<void>;
  /** Returns undefined if the secret is unknown, used, replaced or too old. It does not use the secret up. */
  find(secret: string): Promise<Registration | undefined>;
  redeem(secret: string): Promise<Registration | undefined>;
}

export function createRegistrationLinks(options: OneTimeLinksOptions): RegistrationLinks {
  const { make, find, redeem, has, end } = createOneTimeLinks<Registration>(options, {
    name: 'registration',
    person: () => undefined,
    owner: ({ address, asked = false }) =>
      address === undefined
        ? FIRST_ADMINISTRATOR
        : `${asked ? 'asked ' : ''}of:${hash('sha256', addressKey(address), 'base64url')}`,
  });
  const firstRight = () => ({ id: randomId(options.random), mailed: false });
  return {
    async make(address, origin) {
      const life = origin.mailed ? MAILED : SHOWN;
      const right = { id: randomId(options.random), address, ...origin };
      return { secret: await make(right, life), life };
    },
    async makeFirst() {
      const right = firstRight();
      return { id: right.id, secret: await make(right, FIRST), life: FIRST };
    },
    hasFirst: () => has(firstRight()),
    endFirst: () => end(FIRST_ADMINISTRATOR),
    find,
    redeem,
  };
}

export type NameFault = 'name' | 'taken';

/**
 * Judges a name that a person chose. It must have a plain form, and look like no other person's name, no removed
 * person's name and no `reserved` name. With `reserved` undefined the person may choose a reserved name.
 */
export async function judgeName(
  { stores: { people } }: Pick<PeopleStore, 'stores'>,
  typed: string,
  reserved: readonly string[] | undefined,
): Promise<{ readonly name: string } | { readonly fault: NameFault }> {
  const name = chosenName(typed);
  if (name === undefined) return { fault: 'name' };
  const alike = await people.search(looksSearchKey(name));
  const isTaken =
    alike.length > 0 ||
    (reserved !== undefined && isReservedName(name, reserved)) ||
    (await people.isFormerName(name)) ||
    (await people.isFormerName(looksSearchKey(name)));
  return isTaken ? { fault: 'taken' } : { name };
}

/** The name that a person chose for their account, and the password or the passkey. */
export interface NewAccount {
  readonly name: string;
  readonly password?: string;
  readonly passkey?: PasskeyRecord;
}

/**
 * Creates the account of a link, with a name that `judgeName` accepted. `taken`: another person has the name, or one
 * that looks like it. `passkey`: the passkey belongs to an account already. `gone`: the link was used, or its address
 * belongs to an account by now. The account and its credential are written together.
 */
export async function register(
  store: PeopleStore,
  { id, address, mailed }: Registration,
  { name, password, passkey }: NewAccount,
): Promise<'done' | 'taken' | 'passkey' | 'gone'> {
  const isAnothers = async () =>
    address !== undefined && (await isVerifiedOfAnother(store, id, address));
  if (await isAnothers()) return 'gone';
  try {
    const person = {
      id,
      name,
      ...(password !== undefined && (await secretsOf(store, name, password))),
      ...(address === undefined
        ? { admin: true }
        : { profile: { emails: [{ address, verified: mailed }] } }),
      created_at: store.clock.now(),
    };
    const together = { unshared: looksSearchKey(name), ...(passkey && { passkey }) };
    const used = { kind: 'link.used', person: id, what: FIRST_ADMINISTRATOR } as const;
    await keepPerson(store, person, 'refused', together, ...(address === undefined ? [used] : []));
    return 'done';
  } catch (error) {
    if (!(error instanceof PeopleError)) throw error;
    // One id gives one account, and a verified address belongs to one account, so of several uses exactly one
    // succeeds.
    const isUsed = (await store.stores.people.get(id)) !== undefined || (await isAnothers());
    if (isUsed) return 'gone';
    const isKnown = passkey && (await store.stores.passkeys.get(passkey.id)) !== undefined;
    return isKnown ? 'passkey' : 'taken';
  }
}
