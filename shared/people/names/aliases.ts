import type { PersonRecord } from '#shared/stores/people/people.ts';
import { addressKey } from './mail-address.ts';

/** Returns the alias of a person whose Kerberos tickets name `principal`. */
export const kerberosAlias = (principal: string) => `kerberos:${principal}`;

/** Returns the alias of the person who has proved that an address is theirs. */
export const addressAlias = (address: string) => `address:${addressKey(address)}`;

/**
 * Returns all aliases of a person, besides name, id and handles of verifiers. The store gives an alias to only one
 * person, in the same step as the record: so a verified address never belongs to two people.
 */
export const aliasesOf = ({
  kerberos = [],
  profile,
}: Pick<PersonRecord, 'kerberos' | 'profile'>): readonly string[] => [
  ...kerberos.map(kerberosAlias),
  ...new Set(
    (profile?.emails ?? [])
      .filter(({ verified }) => verified)
      .map(({ address }) => addressAlias(address)),
  ),
];
