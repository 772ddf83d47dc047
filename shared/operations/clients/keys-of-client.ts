import { jwksOf, keyInDirectory } from '#shared/people/key-purposes.ts';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { Conflict } from '../operation.ts';

/** Throws `Conflict` for a key of the client by which somebody is let in (RFC 9729 section 8). */
export async function refuseKeysOfPeople(
  publicKeys: PublicKeys,
  { jwks, gnap }: Pick<ClientRecord, 'jwks' | 'gnap'>,
): Promise<void> {
  for (const jwk of [...(jwks?.keys ?? []), ...jwksOf(gnap)]) {
    const known = await keyInDirectory({ publicKeys }, jwk);
    if (known !== undefined) {
      throw new Conflict(`${known.id} is a key for ${known.scheme}: make another`);
    }
  }
}
