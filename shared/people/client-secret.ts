import { hash } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';

/** Creates a secret of 256 bits, which is shown once, and the hash that is stored. */
export function newSecret(
  random: Random,
): Required<Pick<ClientRecord, 'secret_hash'>> & { secret: string } {
  const secret = random(32).toString('base64url');
  return { secret, secret_hash: hash('sha256', secret, 'base64url') };
}
