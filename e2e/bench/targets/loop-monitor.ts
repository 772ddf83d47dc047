/**
 * Loaded into a server by `--import`: SIGURG starts watching its event loop, and SIGWINCH writes the result
 * in milliseconds to the file in this module's URL query. Two different signals are needed, because the
 * system merges equal signals to a process without a processor. Of two different signals the lower number
 * arrives first.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const histogram = monitorEventLoopDelay({ resolution: 1 });
const milliseconds = (nanoseconds: number) => nanoseconds / 1_000_000;

/** Microseconds of CPU time of the main thread. */
const spent = () => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};
let most = 0;
let before = 0;
let timer: NodeJS.Timeout | undefined;
/** Runs once in each turn that takes a millisecond or more. */
function tick(): void {
  const now = spent();
  most = Math.max(most, now - before);
  before = now;
}

process.on('SIGURG', () => {
  histogram.reset();
  histogram.enable();
  [most, before] = [0, spent()];
  timer = setInterval(tick, 1);
});
process.on('SIGWINCH', () => {
  histogram.disable();
  clearInterval(timer);
  const [p50, p99] = [histogram.percentile(50), histogram.percentile(99)].map(milliseconds);
  writeFileSync(
    file,
    JSON.stringify({ p50, p99, max: milliseconds(histogram.max), cpu: most / 1000 }),
  );
});
