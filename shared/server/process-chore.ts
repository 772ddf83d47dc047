import { hostname } from 'node:os';
import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { VERSION } from '#shared/base/version.ts';
import { WORKER } from '#shared/base/workers.ts';
import type { ServerName } from '#shared/config/server-name.ts';
import { writeReport } from '#shared/stores/cache/reports.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Chore } from './chore.ts';
import type { Ready } from './endpoints/health.ts';

/** Seconds between two reports; the store forgets a report after a minute. */
const OFTEN = 20;

/**
 * Creates the task that reports to the store that a process runs, for operators (`server status`). `store`: whether
 * the store answers, which is the only check of the first report. `ready`: whether the server can do its work. The
 * first report does not check `ready`: the issuer may not listen yet, and a resource server whose request to the
 * issuer failed would refuse tokens for a while. `end` reports that the process has stopped working.
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
): Chore & { end(): Promise<void> } {
  const process = randomId(random);
  const since = clock.now();
  const host = hostname();
  let ask = store;
  const isReady = () => {
    const asked = ask();
    ask = ready;
    return asked.then(
      () => true,
      () => false,
    );
  };
  let ended = false;
  const put = (isWell: boolean) => {
    const state = { ready: isWell, at: clock.now(), ...(ended && { ended }) };
    const report = { server, version: VERSION, host, worker: WORKER, since, ...state };
    return stores.cacheReports.put(process, writeReport(report));
  };
  return {
    name: 'process.report',
    seconds: OFTEN,
    run: async () => {
      const isWell = await isReady();
      if (!ended) await put(isWell);
    },
    end: () => {
      ended = true;
      return put(false);
    },
  };
}
