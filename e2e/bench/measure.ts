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
 * Until V8 has compiled what is asked, which takes so many requests, however long those take on this
 * machine; after so many seconds it ends all the same. Of each worker.
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
  /** Rejects when it does not answer as it has to or lets in what is forged: nobody is to be fast by not looking. */
  probe(): Promise<void>;
  /** Prepares that many seconds of its load; what it resolves to is the run, which is measured. */
  prepare(seconds: number): Promise<() => Promise<Run>>;
}

/** The result of a load generator. */
export interface Run {
  /** The number of requests, or of other units of the load. */
  readonly count: number;
  readonly seconds: number;
  readonly latency?: Latency;
  /** Answers that were missing or not what they should have been. */
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
  /** Microseconds of CPU time of the server for each of what was done: the median, the least and the most. */
  readonly cpu: number;
  readonly least: number;
  readonly most: number;
  /** How many a second by the clock on the wall. */
  readonly rate: number;
  /** Bytes that the server's processes held at most, in any round. */
  readonly memory: number;
  /** Microseconds of CPU time of the store that the server uses, where that has processes of its own. */
  readonly store?: number;
  readonly latency?: Latency;
  readonly count: number;
  readonly errors: number;
}

/** Told of a contender that cannot be measured; it is left out from then on. Whatever it throws ends all. */
export type Failed = (contender: Contender, error: unknown) => void;

const fail: Failed = (_, error) => {
  throw error;
};

/**
 * Measures A B C, A B C, ...: what disturbs the machine disturbs all of them. Warming up does not count,
 * except its errors. Who does not answer as it has to is not measured.
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
  /** While warming up. */
  errors: number;
  readonly done: Sample[];
}

/** Runs of a second: one, if nothing is compiled meanwhile. Returns the errors. */
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
