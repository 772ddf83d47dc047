import type { Recorder } from '#shared/audit/recorder.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { BY_SECOND_FACTOR } from './access/assurance.ts';
import { keptJwk } from './public-key.ts';

/** Most keys of one person or application, for all schemes together. */
export const MOST_KEYS = 20;

/** Operators vouch for the keys that they add: these count as added with a second factor. */
export const VOUCHED = { acr: BY_SECOND_FACTOR.acr } as const;

/** `of a client`: the key authenticates a client at the authorization server. */
export type KeyOutcome = Awaited<ReturnType<PublicKeys['add']>> | 'of a client';

/** Adds a key unless it has another use: no key is used in two protocols (RFC 9729 section 8). */
export async function addPublicKey(
  { publicKeys, clients }: { publicKeys: Pick<PublicKeys, 'add'>; clients: Pick<Clients, 'list'> },
  key: PublicKeyRecord,
  recorder?: Recorder,
): Promise<KeyOutcome> {
  if ((await keysOfClients(clients)).has(key.id)) return 'of a client';
  const added = { kind: 'public-key.added', key: key.id, ...ownerOf(key) } as const;
  return (recorder?.changing('publicKeys', added) ?? publicKeys).add(key, MOST_KEYS);
}

/** Returns the owner of a key as events name it. */
export const ownerOf = ({ owner: { kind, id } }: PublicKeyRecord) =>
  kind === 'person' ? { person: id } : { client: id };

/** Resolves to the fingerprints of the keys that authenticate clients (RFC 7591 section 2, `jwks`; GNAP). */
export async function keysOfClients(clients: Pick<Clients, 'list'>): Promise<ReadonlySet<string>> {
  const jwks = (await clients.list()).flatMap(({ jwks: own, gnap }) =>
    (own?.keys ?? []).concat(jwksOf(gnap)),
  );
  return new Set(jwks.flatMap((jwk) => keptJwk(jwk)?.id ?? []));
}

/** The key that signs the requests of a client of GNAP; a client that shows a certificate has none. */
export const jwksOf = (gnap: ClientRecord['gnap']): readonly Readonly<Record<string, unknown>>[] =>
  gnap && 'jwk' in gnap.key ? [gnap.key.jwk] : [];

/** Finds the record of a key that is used for a scheme of the resource server. */
export async function keyInDirectory(
  { publicKeys }: { publicKeys: Pick<PublicKeys, 'get'> },
  jwk: object,
): Promise<PublicKeyRecord | undefined> {
  const key = keptJwk({ ...jwk });
  return key && publicKeys.get(key.id);
}
