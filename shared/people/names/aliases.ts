import type { PersonRecord } from '#shared/stores/people/people.ts';

/** Returns the alias of a person whose tickets name `principal`. */
export const kerberosAlias = (principal: string) => `kerberos:${principal}`;

/** Returns all aliases by which a person is found, besides name, id and handles of verifiers. */
export const aliasesOf = ({ kerberos = [] }: Pick<PersonRecord, 'kerberos'>): readonly string[] =>
  kerberos.map(kerberosAlias);
