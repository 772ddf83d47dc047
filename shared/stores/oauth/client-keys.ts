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
 * Returns the fingerprints of a client's own keys, each once. A member of `jwks` that is no key is skipped. The keys in
 * a document are skipped, too: they are not verified, and a document may name any key.
 */
export const keyIdsOf = (
  client: Pick<ClientRecord, 'jwks' | 'gnap' | 'document'>,
): readonly string[] =>
  client.document === undefined
    ? [...new Set(jwksOf(client).flatMap((jwk) => keptJwk(jwk)?.id ?? []))]
    : [];
