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

/**
 * Returns the fingerprints of the keys that are a client's own, each once. A member of `jwks` that is no key has none, and
 * neither has a document: nobody vouches for it, and it can name the key of anybody.
 */
export const keyIdsOf = (
  client: Pick<ClientRecord, 'jwks' | 'gnap' | 'document'>,
): readonly string[] =>
  client.document === undefined
    ? [...new Set(jwksOf(client).flatMap((jwk) => keptJwk(jwk)?.id ?? []))]
    : [];
