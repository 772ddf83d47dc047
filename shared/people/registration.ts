import { hash } from 'node:crypto';
import { randomId } from '#shared/base/random.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import { isVerifiedOfAnother } from './address-links.ts';
import { chosenName, isReservedName } from './names/chosen-name.ts';
import { addressKey } from './names/mail-address.ts';
import { looksSearchKey } from './names/search-keys.ts';
import { createOneTimeLinks, type OneTimeLinksOptions } from './one-time-links.ts';
import { keepPerson, PeopleError, type PeopleStore, secretsOf } from './people.ts';

/** Seconds for which a link is valid that came by mail: people read their mail once a day. */
const MAILED = 86_400;
/** Seconds for which one is valid that an operator was shown. */
const SHOWN = 900;
/** Seconds for which the link of the first administrator is valid. */
const FIRST = 3600;

/** The link of the first administrator, in the words of the audit log. */
export const FIRST_ADMINISTRATOR = 'first administrator';

/** The path below which the secret of such a link stands, at the authorization server. */
export const REGISTRATION_PATH = '/register/';

/** The right of somebody who has no account to make one. */
export interface Registration {
  /** The id that their account will have: so one link makes one account. */
  readonly id: string;
  /** Absent: the link is for the first administrator, who gives none. */
  readonly address?: string;
  /** The link was sent to the address: whoever has it reads what goes there. */
  readonly mailed: boolean;
  /** Somebody asked for it themself. It does not take the place of an operator's, and is good while registration is open. */
  readonly asked?: boolean;
}

export interface MadeLink {
  readonly secret: string;
  /** Its life in seconds. */
  readonly life: number;
}

/** Whether a link is the one of the first administrator. */
export const isOfFirst = ({ address }: Pick<Registration, 'address'>) => address === undefined;

/** One-time links with which somebody makes an account. */
export interface RegistrationLinks {
  /** Makes a link, which takes the place of the last one of that address and origin. */
  make(address: string, origin: Omit<Registration, 'id' | 'address'>): Promise<MadeLink>;
  /** Makes the link of the first administrator, which takes the place of the last such link. */
  makeFirst(): Promise<MadeLink & Pick<Registration, 'id'>>;
  /** Undefined: the secret is unknown, used, replaced or too old. Uses nothing up. */
  find(secret: string): Promise<Registration | undefined>;
  redeem(secret: string): Promise<Registration | undefined>;
}

export function createRegistrationLinks(options: OneTimeLinksOptions): RegistrationLinks {
  const { make, find, redeem } = createOneTimeLinks<Registration>(options, {
    name: 'registration',
    person: () => undefined,
    owner: ({ address, asked = false }) =>
      address === undefined
        ? FIRST_ADMINISTRATOR
        : `${asked ? 'asked ' : ''}of:${hash('sha256', addressKey(address), 'base64url')}`,
  });
  return {
    async make(address, origin) {
      const life = origin.mailed ? MAILED : SHOWN;
      const right = { id: randomId(options.random), address, ...origin };
      return { secret: await make(right, life), life };
    },
    async makeFirst() {
      const id = randomId(options.random);
      return { id, secret: await make({ id, mailed: false }, FIRST), life: FIRST };
    },
    find,
    redeem,
  };
}

export type NameFault = 'name' | 'taken';

/**
 * Judges a name that somebody chose: it must be of a plain form, and look like nobody else's,
 * like nobody's who was removed, and like none of the `reserved` ones (undefined: the chooser may have a reserved name).
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

/** The name that somebody chose for their account, and the password or the passkey. */
export interface NewAccount {
  readonly name: string;
  readonly password?: string;
  readonly passkey?: PasskeyRecord;
}

/**
 * Makes the account of a link, with a name that `judgeName` has judged. `taken`: somebody else was faster with the name, or
 * one that looks like it; `passkey`: the passkey is there already, for whomever;
 * `gone`: the link was used, or its address is that of an account by now. The account and its way in are there both or
 * neither.
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
    // One id makes one account, and one verified address belongs to one, so of several uses exactly one succeeds.
    const isUsed = (await store.stores.people.get(id)) !== undefined || (await isAnothers());
    if (isUsed) return 'gone';
    const isKnown = passkey && (await store.stores.passkeys.get(passkey.id)) !== undefined;
    return isKnown ? 'passkey' : 'taken';
  }
}
