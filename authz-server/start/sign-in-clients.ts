import { isDeepStrictEqual } from 'node:util';
import { isSignInClient, signInRegistrations } from '#shared/config/sign-in-clients.ts';
import type { Parts } from '#shared/server/process.ts';

/**
 * Registers the clients as which people sign in before applications, as the configuration has them now. One that an
 * operator has removed stays removed; one whose space is gone goes.
 */
export async function registerSignInClients({
  config,
  stores: { clients, revocations },
  master,
  clock,
}: Pick<Parts, 'config' | 'stores' | 'master' | 'clock'>): Promise<void> {
  const due = signInRegistrations(config, master, clock);
  for (const client of due) {
    const there = await clients.get(client.client_id);
    if (there === undefined) {
      if ((await revocations.generation('client', client.client_id)) === 0) {
        await clients.add(client);
      }
    } else if (!isDeepStrictEqual({ ...there, created_at: 0 }, { ...client, created_at: 0 })) {
      await clients.replace({ ...client, created_at: there.created_at });
    }
  }
  const ids = new Set(due.map(({ client_id: id }) => id));
  for (const { client_id: id } of await clients.list()) {
    if (isSignInClient(id) && !ids.has(id)) await clients.remove(id);
  }
}
