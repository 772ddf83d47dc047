import type { PersonRecord } from '#shared/stores/people/people.ts';

/** What a person is found by when a ticket names `principal`. */
export const kerberosAlias = (principal: string) => `kerberos:${principal}`;

/** Everything but the name, the id and the handles of verifiers that a person is found by. */
export const aliasesOf = ({ kerberos = [] }: Pick<PersonRecord, 'kerberos'>): readonly string[] =>
  kerberos.map(kerberosAlias);
