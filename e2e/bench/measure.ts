import { cpuTime } from './cpu.ts';
import type { Server } from './cpu.ts';
import { forgetPeaks, peakMemory } from './processes.ts';
import { median } from './statistics.ts';

/** How often and how long each contender is measured. */
export interface Schedule {
  readonly rounds: number;
  /** The length of a round. */
  readonly seconds: number;
  readonly warmUp: WarmUp;
}

/**
 * Requests until V8 has compiled the code, on any machine; after `seconds` the warm-up ends anyway. Per
 * worker.
 */
export interface WarmUp {
  readonly count: number;
  readonly seconds: number;
}

export const WARM_UP: WarmUp = { count: 20_000, seconds: 10 };

const SCHEDULE: Schedule = { rounds: 5, seconds: 2, warmUp: WARM_UP };

/** One server with one load. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  /**
   * Rejects if a valid request fails or a forged one is admitted, so that no server is fast by skipping
   * checks.
   */
  probe(): Promise<void>;
  /** Prepares this many seconds of load; resolves to the run that is measured. */
  prepare(seconds: number): Promise<() => Promise<Run>>;
}

/** The result of a load generator. */
export interface Run {
  /** The number of requests, or of other units of the load. */
  readonly count: number;
  readonly seconds: number;
  readonly latency?: Latency;
  /** Missing or wrong answers. */
  readonly errors: number;
}

/** Milliseconds from a request to its answer. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

/** Medians over the rounds. */
export interface Measured {
  readonly name: string;
  /** The server's CPU time per unit in microseconds: median, minimum and maximum. */
  readonly cpu: number;
  readonly least: number;
  readonly most: number;
  /** Units per second of wall-clock time. */
  readonly rate: number;
  /** The peak memory of the server's processes in bytes, over all rounds. */
  readonly memory: number;
  /** The store's CPU time per unit in microseconds, if the store has its own processes. */
  readonly store?: number;
  readonly latency?: Latency;
  readonly count: number;
  readonly errors: number;
}

/**
 * Called for a contender that cannot be measured, which is then skipped. An exception from it ends
 * everything.
 */
export type Failed = (contender: Contender, error: unknown) => void;

const fail: Failed = (_, error) => {
  throw error;
};

/**
 * Measures A B C, A B C, ..., so that a disturbance affects all contenders. Only the errors of the warm-up
 * are counted. A contender with wrong answers is not measured.
 */
export async function compare(
  contenders: readonly Contender[],
  say: (line: string) => void,
  schedule = SCHEDULE,
  failed = fail,
): Promise<readonly Measured[]> {
  const all = new Map(
    contenders.map((contender) => [contender, { errors: 0, done: [] as Sample[] }]),
  );
  async function each(work: (contender: Contender, samples: Samples) => Promise<void>) {
    for (const [contender, samples] of all) {
      try {
        await work(contender, samples);
      } catch (error) {
        all.delete(contender);
        failed(contender, error);
      }
    }
  }
  const { rounds, seconds } = schedule;
  await each(({ probe }) => probe());
  say('  warming up');
  await each(async (contender, samples) => {
    samples.errors = await warmUp(contender, schedule.warmUp);
  });
  for (let round = 1; round <= rounds; round += 1) {
    say(`  round ${round} of ${rounds}`);
    await each(async (contender, { done }) => void done.push(await measure(contender, seconds)));
  }
  return [...all].map(([{ name }, samples]) => summarize(name, samples));
}

interface Sample extends Run {
  readonly cpu: number;
  readonly store?: number;
  readonly memory: number;
}

interface Samples {
  /** Errors during the warm-up. */
  errors: number;
  readonly done: Sample[];
}

/** Runs one second, or more until the code is compiled. Returns the errors. */
export async function warmUp(
  { server: { workers = 1, native = false }, prepare }: Contender,
  { count, seconds }: WarmUp,
): Promise<number> {
  const sum = { count: 0, errors: 0 };
  const most = native ? 1 : workers * seconds;
  for (let second = 0; second < most && sum.count < workers * count; second += 1) {
    const run = await prepare(1);
    const done = await run();
    sum.count += done.count;
    sum.errors += done.errors;
  }
  return sum.errors;
}

async function measure({ name, server, prepare }: Contender, seconds: number): Promise<Sample> {
  const { pids, store } = server;
  const run = await prepare(seconds);
  forgetPeaks(pids);
  const used = () => ({
    cpu: cpuTime(...pids),
    ...(store !== undefined && { store: cpuTime(...store) }),
  });
  const before = used();
  const done = await run();
  const after = used();
  if (done.count === 0) throw new Error(`${name} did nothing: ${done.errors} errors`);
  return {
    ...done,
    cpu: (after.cpu - before.cpu) / done.count,
    ...(before.store !== undefined &&
      after.store !== undefined && { store: (after.store - before.store) / done.count }),
    memory: peakMemory(pids),
  };
}

function summarize(name: string, { errors, done: counted }: Samples): Measured {
  const cpu = counted.map((sample) => sample.cpu);
  const store = counted.flatMap((sample) => sample.store ?? []);
  const latencies = counted.flatMap(({ latency }) => latency ?? []);
  const sum = (member: 'count' | 'errors') =>
    counted.reduce((total, sample) => total + sample[member], 0);
  return {
    name,
    cpu: median(cpu),
    least: Math.min(...cpu),
    most: Math.max(...cpu),
    rate: median(counted.map(({ count, seconds }) => count / seconds)),
    memory: Math.max(...counted.map(({ memory }) => memory)),
    ...(latencies.length > 0 && {
      latency: {
        p50: median(latencies.map(({ p50 }) => p50)),
        p99: median(latencies.map(({ p99 }) => p99)),
      },
    }),
    ...(store.length > 0 && { store: median(store) }),
    count: sum('count'),
    errors: errors + sum('errors'),
  };
}
