import type { Recorder } from '#shared/audit/recorder.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Config } from '#shared/config/schema.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Stores } from '#shared/stores/stores.ts';

const DAY = 86_400_000;
/** Least milliseconds without use after which a client is removed. */
const LEAST = 30 * DAY;
/** How many rows are read at once. */
const PAGE = 100;

interface Parts {
  readonly config: Config;
  readonly stores: Pick<Stores, 'clients'>;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Removes clients that are neither registered nor used. A used client has a description of at most a day. So after
 * `people.grant` and two days everything that people allowed an unused client is over. A client that is fetched
 * meanwhile stays.
 */
export async function removeUnused({ config, stores, recorder, clock, log }: Parts): Promise<void> {
  const before = clock.now() - Math.max(LEAST, config.people.grant * 1000 + 2 * DAY);
  let after: string | undefined;
  for (;;) {
    const rows = await stores.clients.page({ prefix: 'https://', after, limit: PAGE });
    for (const row of rows.filter((one) => isUnused(one, before))) {
      const { client_id: client } = row;
      const removed = recorder.changing('clients', { kind: 'client.removed', client });
      if (await removed.remove(client, row)) log.info('client-document.removed', { client });
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.client_id;
  }
}

const isUnused = ({ document }: ClientRecord, before: number): boolean =>
  document !== undefined && document.registered === undefined && document.fetched < before;
