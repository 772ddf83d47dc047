import { hash } from 'node:crypto';
import type { PersonRecord, Profile } from '#shared/stores/people/people.ts';
import { keepManaged } from './identities.ts';
import { addressAlias } from './names/aliases.ts';
import { addressKey } from './names/mail-address.ts';
import { createOneTimeLinks, type OneTimeLinksOptions } from './one-time-links.ts';
import { PeopleError, type PeopleStore, replacePerson } from './people.ts';
import { said } from '#shared/refusals/operations.ts';

/** Seconds for which a link is valid: people read their mail once a day. */
const ADDRESS_LIFE = 86_400;

/** The path at the authorization server that precedes the secret of such a link. */
export const ADDRESS_PATH = '/account/address/';

type Emails = NonNullable<Profile['emails']>;

/** An address that a person claims. A holder of the link can read the mail of the address. */
export interface AddressClaim {
  /** The id of the person. */
  readonly person: string;
  readonly address: string;
  /**
   * True if the person did not have the address when the link was made. Confirming it then replaces their first
   * address, if any.
   */
  readonly isNew: boolean;
  readonly replaces?: string;
}

/** One-time links with which a person confirms an address. */
export interface AddressLinks {
  /** `emails`: the person's present addresses. */
  make(person: string, address: string, emails?: Emails): Promise<string>;
  /** Returns undefined if the secret is unknown, used, replaced or too old. It does not use the secret up. */
  find(secret: string): Promise<AddressClaim | undefined>;
  /** Returns the claim of the person's last link. Undefined: it is used, too old or void. */
  waiting(person: string): Promise<AddressClaim | undefined>;
  /** Does the same as `find`, and uses the secret up: of several callers exactly one gets the claim. */
  redeem(secret: string): Promise<AddressClaim | undefined>;
  /** Ends the person's link, with the address in it. */
  end(person: string): Promise<void>;
}

export function createAddressLinks(options: OneTimeLinksOptions): AddressLinks {
  const { make, find, redeem, last, end } = createOneTimeLinks<AddressClaim>(options, {
    name: 'address',
    person: ({ person }) => person,
    owner: ({ person }) => ownerOf(person),
  });
  return {
    make(person, address, emails = []) {
      const isNew = indexOf(emails, address) < 0;
      const [first] = emails;
      const replaces = isNew && first !== undefined && { replaces: first.address };
      return make({ person, address, isNew, ...replaces }, ADDRESS_LIFE);
    },
    find,
    waiting: (person) => last(ownerOf(person)),
    redeem,
    end: (person) => end(ownerOf(person)),
  };
}

const ownerOf = (person: string) => `of:${hash('sha256', person, 'base64url')}`;

/** Returns the addresses of a person after they confirmed one; undefined if it is no longer their address. */
export function confirmedEmails(
  emails: Emails,
  { address, isNew, replaces }: AddressClaim,
): Emails | undefined {
  const at = indexOf(emails, address);
  if (at >= 0) return emails.with(at, { address: emails[at]?.address ?? address, verified: true });
  if (!isNew || emails[0]?.address !== replaces) return undefined;
  return [{ address, verified: true }, ...emails.slice(1)];
}

const indexOf = (emails: Emails, address: string) =>
  emails.findIndex((one) => addressKey(one.address) === addressKey(address));

/** Returns whether another person has proved that the address is theirs. */
export async function isVerifiedOfAnother(
  { stores: { people } }: Pick<PeopleStore, 'stores'>,
  person: string,
  address: string,
): Promise<boolean> {
  const owner = await people.getByAlias(addressAlias(address));
  return owner !== undefined && owner.id !== person;
}

/**
 * Marks an address as verified after its person has used a link that was sent to it. It must still be an address of
 * this person, and verified for no other person.
 */
export async function verifySentTo(
  store: Pick<PeopleStore, 'stores' | 'clock'>,
  { id, name }: Pick<PersonRecord, 'id' | 'name'>,
  address: string,
): Promise<void> {
  try {
    await confirmAddress(store, { id, name }, { person: id, address, isNew: false });
  } catch (error) {
    if (!(error instanceof PeopleError)) throw error;
  }
}

/**
 * Marks an address as verified, or replaces the first address by it. Returns the verified address that it replaced.
 * Throws `PeopleError` if the person was removed, if they have changed their addresses since, or if another person
 * has verified the address.
 */
export async function confirmAddress(
  store: Pick<PeopleStore, 'stores' | 'recorder' | 'clock'>,
  { id, name }: Pick<PersonRecord, 'id' | 'name'>,
  claim: AddressClaim,
): Promise<string | undefined> {
  let former: string | undefined;
  const edit = keepManaged(({ profile = {}, ...person }: PersonRecord) => {
    const before = profile.emails ?? [];
    const emails = person.id === id ? confirmedEmails(before, claim) : undefined;
    if (emails === undefined)
      throw new PeopleError(said('address-gone', { address: claim.address }));
    const gone = before.find(({ verified, address }) => verified && indexOf(emails, address) < 0);
    former = gone?.address;
    return { ...person, profile: { ...profile, emails } };
  });
  await replacePerson(store, name, edit, { kind: 'person.changed', what: 'emails' });
  return former;
}
