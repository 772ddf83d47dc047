import type { Identity, PersonRecord } from '#shared/stores/people/people.ts';
import { addressKey } from './mail-address.ts';

/** Returns the alias of a person whose Kerberos tickets name `principal`. */
export const kerberosAlias = (principal: string) => `kerberos:${principal}`;

/** Returns the alias of the person who has proved that an address is theirs. */
export const addressAlias = (address: string) => `address:${addressKey(address)}`;

/** Returns the alias of the person who has an account at a source. The name of a source has no space. */
export const identityAlias = ({ source, subject }: Identity) => `source:${source} ${subject}`;

/** Returns the accounts of a person at sources. */
export const identitiesOf = ({
  origin,
  linked = [],
}: Pick<PersonRecord, 'origin' | 'linked'>): readonly Identity[] => [
  ...(origin ? [origin] : []),
  ...linked,
];

/**
 * Returns all aliases of a person, besides name, id and handles of verifiers. The store gives an alias to only one
 * person, in the same step as the record: so a verified address or an account at a source never belongs to two people.
 */
export const aliasesOf = ({
  kerberos = [],
  profile,
  ...identities
}: Pick<PersonRecord, 'kerberos' | 'linked' | 'origin' | 'profile'>): readonly string[] => [
  ...kerberos.map(kerberosAlias),
  ...identitiesOf(identities).map(identityAlias),
  ...new Set(
    (profile?.emails ?? [])
      .filter(({ verified }) => verified)
      .map(({ address }) => addressAlias(address)),
  ),
];
