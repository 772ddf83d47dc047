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

const FOR_EVERYBODY = 'start:everybody,';
// Neither a group nor a name has a comma, so no key begins with another key.
const forGroup = (group: string) => `start:group ${group},`;
const forPerson = (name: string) => `start:person ${name},`;

/**
 * Returns the search keys by which the account page finds the clients that it lists: by whom they are for. A client with
 * a document has none: only the people who use such a client see it.
 */
export function startKeysOf(
  client: Pick<ClientRecord, 'start_url' | 'document' | 'allow_groups' | 'allow_people'>,
): readonly string[] {
  const { allow_groups: groups, allow_people: people } = client;
  if (client.start_url === undefined || client.document !== undefined) return [];
  if (groups === undefined && people === undefined) return [FOR_EVERYBODY];
  return [...(groups ?? []).map(forGroup), ...(people ?? []).map(forPerson)];
}

/** Returns the search keys of the clients that are for everybody, for a person with this name, or for these groups. */
export const startKeysFor = (name: string, groups: readonly string[] = []): readonly string[] => [
  FOR_EVERYBODY,
  forPerson(name),
  ...groups.map(forGroup),
];
