import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '#shared/base/clock.ts';
import { atLabel } from './labels.ts';
import type { Metrics } from './metrics.ts';

/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 20;

/** Reads memory, CPU time and the delay of the event loop; since when it looks at the latter, until disposed of. */
export function measureProcess(metrics: Metrics, clock: Clock): Disposable & { read(): void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  const began = clock.now() / 1000 - process.uptime();
  /** Each value is the time between two looks, in nanoseconds. */
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
