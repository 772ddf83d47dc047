import { keyInDirectory } from '#shared/people/key-purposes.ts';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { jwksOf } from '#shared/stores/oauth/client-keys.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Conflict } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** How a client is written, and how the write is undone; both resolve to false if nothing was changed. */
interface Writing {
  write(): Promise<boolean>;
  undo(): Promise<unknown>;
}

/**
 * Writes a client, unless one of its keys authenticates a person or application at the resource server. It checks
 * again after the write. The function that adds such a key does the same, so that of two at the same time at least
 * one sees the other. Throws `Conflict`.
 */
export async function writeUnlessKeysOfPeople(
  publicKeys: PublicKeys,
  client: ClientRecord,
  { write, undo }: Writing,
): Promise<boolean> {
  await refuseKeysOfPeople(publicKeys, client);
  if (!(await write())) return false;
  try {
    await refuseKeysOfPeople(publicKeys, client);
  } catch (error) {
    await undo();
    throw error;
  }
  return true;
}

/** Throws `Conflict` for a key of the client that authenticates a person or application (RFC 9729 section 8). */
export async function refuseKeysOfPeople(
  publicKeys: PublicKeys,
  client: Pick<ClientRecord, 'jwks' | 'gnap'>,
): Promise<void> {
  for (const jwk of jwksOf(client)) {
    const known = await keyInDirectory({ publicKeys }, jwk);
    if (known !== undefined) {
      throw new Conflict(said('key-of-scheme', { id: known.id, scheme: known.scheme }));
    }
  }
}
