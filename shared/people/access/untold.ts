import { setTimeout } from 'node:timers/promises';
import type { Stores } from '#shared/stores/stores.ts';

/**
 * Milliseconds between two looks, and the most looks: longer than the server takes to find a logout and to send it to an
 * application that answers in time.
 */
const PAUSE = 100;
const LOOKS = 25;

/**
 * Returns the names of the applications that the server could not tell yet that sessions of a person ended. It waits for
 * up to 2.5 s while the server tells them. A removed application is not among them, since the server tells it nothing.
 */
export const untoldApplications = (
  stores: Pick<Stores, 'logouts' | 'clients'>,
  accountId: string,
): Promise<readonly string[]> => untold(stores, () => stores.logouts.waiting(accountId));

/** The same after the end of an application, for all of its people. */
export const untoldClient = (
  stores: Pick<Stores, 'logouts' | 'clients'>,
  clientId: string,
): Promise<readonly string[]> =>
  untold(stores, async () =>
    (await stores.logouts.due(Number.MAX_SAFE_INTEGER)).filter((id) => id === clientId),
  );

async function untold(
  { clients }: Pick<Stores, 'clients'>,
  look: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let waiting = await look();
  for (let looks = 1; waiting.length > 0 && looks < LOOKS; looks += 1) {
    await setTimeout(PAUSE);
    waiting = await look();
  }
  const records = await Promise.all(waiting.map((id) => clients.get(id)));
  return records.flatMap((client) => (client ? [client.client_name] : []));
}
