import cluster from 'node:cluster';
import type { Clock } from '#shared/base/clock.ts';
import { within } from '#shared/base/within.ts';
import type { Logouts } from '#shared/stores/logout/logouts.ts';
import type { LastBackup } from '#shared/stores/last-backup/last-backup.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import type { Ready } from '../endpoints/health.ts';
import { listenForMetrics, type MetricsAddress } from './listener.js';
import type { Metrics } from './metrics.ts';
import { textOf } from './text-format.js';
import { type keyLifecycle, listKeys } from '#shared/keys/signing-key-lifecycle.ts';
import { algLabel, atLabel, KEY_STATES, stateLabel } from './labels.ts';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds within which the server reports whether it is ready; less than the workers' parent waits. */
const READY_PATIENCE = 500;

export interface Reporting extends Disposable {
  /** Sends the final counts to the workers' parent before the end. */
  last(): void;
}

interface Reported {
  readonly metrics: Metrics;
  /** The address at which scrapes are answered; for a worker its parent answers them. */
  readonly address: MetricsAddress;
  readonly feed: Pick<RevocationFeed, 'status'>;
  readonly ready: Ready;
  /** The life cycle of the keys that are measured. */
  readonly life: Parameters<typeof measureKeys>[1];
  /** The last successful backup of the store; only the authorization server reports it. */
  readonly lastBackup: LastBackup | undefined;
  /** The logouts that wait to be sent; only the authorization server reports them. */
  readonly logouts: Pick<Logouts, 'backlog'> | undefined;
  readonly clock: Clock;
  /** Returns the difference of the clocks, as the server does. */
  clockDifference(): number | undefined;
}

/**
 * Reports the metrics of this process until disposed of. A worker reports to its parent on request, any other process
 * to its scrapers. Rejects if it cannot listen.
 */
export async function reportMetrics(reported: Reported): Promise<Reporting> {
  const { metrics, address, feed, ready, life, lastBackup, logouts, clock, clockDifference } =
    reported;
  const ofProcess = measureProcess(metrics, clock);
  const works = (need: Need) =>
    within(READY_PATIENCE, ready(need)).then(
      () => 1,
      () => 0,
    );
  async function measureBackup(): Promise<void> {
    if (lastBackup) metrics.set('lastBackup', ((await lastBackup.get()) ?? 0) / 1000);
  }
  async function measureLogouts(): Promise<void> {
    if (logouts === undefined) return;
    const { count, oldest = clock.now() } = await logouts.backlog();
    metrics.set('logoutsWaiting', count);
    metrics.set('logoutAge', Math.max(0, clock.now() - oldest) / 1000);
  }
  async function read(): Promise<void> {
    // If the store does not answer, `ready` reports that, and the last known numbers stay.
    const stored = [measureKeys(metrics, life), measureBackup(), measureLogouts()];
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

/** Measures how recent the revocations are that this process knows. */
function measureFeed(metrics: Metrics, feed: Pick<RevocationFeed, 'status'>): void {
  const { trusted, silence, entries } = feed.status();
  metrics.set('feedTrusted', trusted ? 1 : 0);
  metrics.set('feedLag', silence / 1000);
  metrics.set('feedEntries', entries);
}

/** Measures how many keys are in each state, and the age of the signing keys. Rejects as the store does. */
async function measureKeys(metrics: Metrics, life: ReturnType<typeof keyLifecycle>): Promise<void> {
  const keys = await listKeys(life);
  for (const each of KEY_STATES) {
    metrics.set('keys', keys.filter(({ state }) => state === each).length, stateLabel(each));
  }
  for (const { key, state } of keys) {
    if (state !== 'signing') continue;
    metrics.set('keyAge', (life.clock.now() - key.signsFrom) / 1000, algLabel(key.alg));
  }
}

/** Milliseconds between two samples of the event loop's delay. */
const RESOLUTION = 20;

/** Measures memory, CPU time and the delay of the event loop. It samples the delay until disposed of. */
function measureProcess(metrics: Metrics, clock: Clock): Disposable & { read(): void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  const began = clock.now() / 1000 - process.uptime();
  /** Each value is the time between two samples, in nanoseconds. */
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1000);
  return {
    read() {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed, heapTotal } = process.memoryUsage();
      metrics.set('cpu', (user + system) / 1e6);
      metrics.set('startTime', began);
      metrics.set('residentMemory', rss);
      metrics.set('heapUsed', heapUsed);
      metrics.set('heapTotal', heapTotal);
      metrics.set('eventLoopDelay', seconds(delay.percentile(50)), atLabel('p50'));
      metrics.set('eventLoopDelay', seconds(delay.percentile(99)), atLabel('p99'));
      metrics.set('eventLoopDelay', seconds(delay.max), atLabel('max'));
      delay.reset();
    },
    [Symbol.dispose]: () => delay.disable(),
  };
}
