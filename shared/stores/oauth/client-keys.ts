import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import type { ClientRecord } from './clients.ts';

/** Returns the public keys of a client: `jwks` (RFC 7591 section 2), or the key of GNAP without a certificate. */
export const jwksOf = ({
  jwks,
  gnap,
}: Pick<ClientRecord, 'jwks' | 'gnap'>): readonly Readonly<Record<string, unknown>>[] => [
  ...(jwks?.keys ?? []),
  ...(gnap && 'jwk' in gnap.key ? [gnap.key.jwk] : []),
];

/** Returns the fingerprints of a client's own keys, each once. Keys of a document are not verified, so not included. */
export const keyIdsOf = (
  client: Pick<ClientRecord, 'jwks' | 'gnap' | 'document'>,
): readonly string[] =>
  client.document === undefined
    ? [...new Set(jwksOf(client).flatMap((jwk) => keptJwk(jwk)?.id ?? []))]
    : [];

/** The search key of the clients with a start URL that everybody may use. */
export const START_KEY = 'start:everybody';

/**
 * Returns the search keys by which the account page finds the clients that it lists. A client with a document has none:
 * only the people who use such a client see it.
 */
export const startKeysOf = ({
  start_url,
  document,
}: Pick<ClientRecord, 'start_url' | 'document'>): readonly string[] =>
  start_url === undefined || document !== undefined ? [] : [START_KEY];
