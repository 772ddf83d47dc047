import { isDeepStrictEqual } from 'node:util';
import { tokenIssuerSpaces } from '#shared/config/token-spaces.ts';
import { registration } from '#shared/config/resource-server-client.ts';
import type { Parts } from '#shared/server/process.ts';

/**
 * Registers the resource server of this pair, so that it may have tokens verified. Registers it again after the
 * issuer moved or the master secret changed. A registration that an operator removed stays removed.
 */
export async function registerResourceServer(
  parts: Pick<Parts, 'config' | 'stores' | 'master' | 'clock'>,
): Promise<void> {
  const { config, stores, master, clock } = parts;
  const verify = tokenIssuerSpaces(config)?.verify.url;
  if (verify === undefined) return;
  const client = registration(verify, master, clock);
  const there = await stores.clients.get(client.client_id);
  if (there === undefined) {
    const generation = await stores.revocations.generation('client', client.client_id);
    if (generation === 0) await stores.clients.add(client);
  } else if (!isDeepStrictEqual({ ...there, created_at: 0 }, { ...client, created_at: 0 })) {
    await stores.clients.replace({ ...client, created_at: there.created_at });
  }
}
