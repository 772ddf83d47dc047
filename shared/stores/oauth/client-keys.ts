import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import type { ClientRecord } from './clients.ts';

/** The public keys that a client authenticates with: `jwks` (RFC 7591 section 2), or the key of GNAP, if it shows no certificate. */
export const jwksOf = ({
  jwks,
  gnap,
}: Pick<ClientRecord, 'jwks' | 'gnap'>): readonly Readonly<Record<string, unknown>>[] => [
  ...(jwks?.keys ?? []),
  ...(gnap && 'jwk' in gnap.key ? [gnap.key.jwk] : []),
];

/** Returns their fingerprints, each once. A member of `jwks` that is no key has none. */
export const keyIdsOf = (client: Pick<ClientRecord, 'jwks' | 'gnap'>): readonly string[] => [
  ...new Set(jwksOf(client).flatMap((jwk) => keptJwk(jwk)?.id ?? [])),
];
