/**
 * Loaded into a server by `--import`: SIGURG begins to watch its event loop, and SIGWINCH writes what was seen to the
 * file of the query in this module's URL, in milliseconds. They are two, since the system makes one of two equal signals
 * to a process that has no processor meanwhile; of two others the lower number comes first.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const histogram = monitorEventLoopDelay({ resolution: 1 });
const milliseconds = (nanoseconds: number) => nanoseconds / 1_000_000;

/** Microseconds of CPU that the main thread has had. */
const spent = () => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};
let most = 0;
let before = 0;
let timer: NodeJS.Timeout | undefined;
/** Comes once in each turn that takes a millisecond or more. */
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
