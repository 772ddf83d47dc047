import type { DigestHash, PersonRecord } from '#shared/stores/people.ts';
import { digestHash } from './digest-hash.ts';

/** What a person is found by when a client sends `userhash` (RFC 7616 section 3.4.4). */
export const userhashAlias = (hash: DigestHash, userhash: string) => `digest:${hash}:${userhash}`;

/** What a person is found by when a ticket names `principal`. */
export const kerberosAlias = (principal: string) => `kerberos:${principal}`;

/** H(name:realm), which a client sends in place of the name (RFC 7616 section 3.4.4). */
export const userhashOf = (hash: DigestHash, name: string, realm: string) =>
  digestHash(hash, `${name}:${realm}`);

/** Everything but the name and the id that a person is found by. */
export function aliasesOf({
  name,
  verifiers = {},
  kerberos = [],
}: Pick<PersonRecord, 'name' | 'verifiers' | 'kerberos'>): readonly string[] {
  const userhashes = Object.entries(verifiers).flatMap(([realm, { digest = {} }]) =>
    (Object.keys(digest) as DigestHash[]).map((hash) =>
      userhashAlias(hash, userhashOf(hash, name, realm)),
    ),
  );
  return [...userhashes, ...kerberos.map(kerberosAlias)];
}
