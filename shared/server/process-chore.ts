import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { VERSION } from '#shared/base/version.ts';
import { WORKER } from '#shared/base/workers.ts';
import type { ServerName } from '#shared/config/server-name.ts';
import { writeProcess } from '#shared/stores/cache/process-report.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Chore } from './chore.ts';
import type { Ready } from './endpoints/health.ts';

/** Seconds; the store forgets a report after a minute. */
const OFTEN = 20;

/**
 * Lets a process say every while that it is there, for operators: `server status`. `store`: whether the store answers, which
 * is all that the first report asks; `ready`: whether the server can do its work. At a start the issuer may not listen yet, and
 * a resource server that asked it in vain would refuse tokens for a while.
 */
export function processChore(
  server: ServerName,
  { store, ready }: { readonly store: Ready; readonly ready: Ready },
  {
    stores,
    clock,
    random,
  }: {
    readonly stores: Pick<Stores, 'cacheReports'>;
    readonly clock: Clock;
    readonly random: Random;
  },
): Chore {
  const process = randomId(random);
  const since = clock.now();
  let ask = store;
  const isReady = () => {
    const asked = ask();
    ask = ready;
    return asked.then(
      () => true,
      () => false,
    );
  };
  return {
    name: 'process.report',
    seconds: OFTEN,
    run: async () =>
      stores.cacheReports.put(
        process,
        writeProcess({ server, version: VERSION, worker: WORKER, since, ready: await isReady() }),
      ),
  };
}
