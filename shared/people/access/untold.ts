import type { Stores } from '#shared/stores/stores.ts';

/**
 * Returns the names of the applications that the server has not told yet that sessions of a person ended. A removed
 * application is not among them, since the server tells it nothing.
 */
export async function untoldApplications(
  { logouts, clients }: Pick<Stores, 'logouts' | 'clients'>,
  accountId: string,
): Promise<readonly string[]> {
  const waiting = await logouts.waiting(accountId);
  const records = await Promise.all(waiting.map((id) => clients.get(id)));
  return records.flatMap((client) => (client ? [client.client_name] : []));
}
