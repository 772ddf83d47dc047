import cluster from 'node:cluster';
import type { Clock } from '#shared/base/clock.ts';
import { within } from '#shared/base/within.ts';
import type { LastBackup } from '#shared/stores/last-backup/last-backup.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import type { Ready } from '../endpoints/health.ts';
import { listenForMetrics, type MetricsAddress } from './listener.js';
import type { Metrics } from './metrics.ts';
import { measureFeed } from './of-feed.ts';
import { measureKeys } from './of-keys.ts';
import { measureProcess } from './of-process.ts';
import { textOf } from './text-format.js';

/** Milliseconds in which the server says whether it is ready; less than the parent of the workers waits. */
const READY_PATIENCE = 500;

export interface Reporting extends Disposable {
  /** Tells the parent of the workers, before the end, what was counted. */
  last(): void;
}

interface Reported {
  readonly metrics: Metrics;
  /** Where scrapes are answered; of a worker its parent answers them. */
  readonly address: MetricsAddress;
  readonly feed: Pick<RevocationFeed, 'status'>;
  readonly ready: Ready;
  /** Whose keys are looked at. */
  readonly life: Parameters<typeof measureKeys>[1];
  /** The last good backup of the store; only the authorization server tells. */
  readonly lastBackup: LastBackup | undefined;
  readonly clock: Clock;
  /** As that of a server. */
  clockDifference(): number | undefined;
}

/**
 * Reports the metrics of this process until disposed of: a worker to its parent, whenever that asks; any other process
 * to whoever scrapes. Rejects if it cannot listen.
 */
export async function reportMetrics(reported: Reported): Promise<Reporting> {
  const { metrics, address, feed, ready, life, lastBackup, clock, clockDifference } = reported;
  const ofProcess = measureProcess(metrics, clock);
  const works = (need: Need) =>
    within(READY_PATIENCE, ready(need)).then(
      () => 1,
      () => 0,
    );
  async function measureBackup(): Promise<void> {
    if (lastBackup) metrics.set('lastBackup', ((await lastBackup.get()) ?? 0) / 1000);
  }
  async function read(): Promise<void> {
    // A store that does not answer is what `ready` says; the last known numbers stay.
    const stored = [measureKeys(metrics, life), measureBackup()];
    const settled = Promise.all(stored.map((one) => within(READY_PATIENCE, one).catch(() => {})));
    const [all, reading] = await Promise.all([works('all'), works('reading')]);
    metrics.set('ready', all);
    metrics.set('readyForReading', reading);
    await settled;
    measureFeed(metrics, feed);
    const difference = clockDifference();
    if (difference !== undefined) metrics.set('clockDifference', difference);
    ofProcess.read();
  }
  if (cluster.isWorker) {
    const { tell, stop } = toParent(metrics, read);
    return { last: tell, [Symbol.dispose]: () => [stop(), ofProcess[Symbol.dispose]()] };
  }
  const text = async () => {
    await read();
    return textOf(metrics.report());
  };
  const { close } = await listenForMetrics(address, text, { now: () => clock.monotonic() });
  return { last: () => {}, [Symbol.dispose]: () => [close(), ofProcess[Symbol.dispose]()] };
}

function toParent(metrics: Metrics, read: () => Promise<void>) {
  const tell = () => void process.send?.({ report: metrics.report() }, () => {});
  const hear = (content: unknown) => {
    if ((Object(content) as { report?: unknown }).report === true) void read().then(tell, tell);
  };
  process.on('message', hear);
  return { tell, stop: () => process.off('message', hear) };
}
