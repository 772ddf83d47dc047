import { cpuTime } from './cpu.ts';
import type { Server } from './cpu.ts';
import { forgetPeaks, peakMemory } from './processes.ts';
import { median } from './statistics.ts';

/** How often and how long each contender is measured. */
export interface Schedule {
  readonly rounds: number;
  /** Of a round. */
  readonly seconds: number;
  /** Seconds until the compiler has done its work. */
  readonly warmUp: number;
}

/** Warms up where a request takes long, too. */
const SCHEDULE: Schedule = { rounds: 5, seconds: 2, warmUp: 5 };

/** One server with one load. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  /** Rejects when it does not answer as it has to or lets in what is forged: nobody is to be fast by not looking. */
  probe(): Promise<void>;
  /** Prepares that many seconds of its load; what it resolves to is the run, which is measured. */
  prepare(seconds: number): Promise<() => Promise<Run>>;
}

/** What a load generator saw. */
export interface Run {
  /** What was done: requests, or whatever the load consists of. */
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
  readonly latency?: Latency;
  readonly count: number;
  readonly errors: number;
}

/**
 * Measures A B C, A B C, ...: what disturbs the machine disturbs all of them. The first round warms
 * up and does not count, except its errors. Rejects when a contender does not answer as it has to.
 */
export async function compare(
  contenders: readonly Contender[],
  say: (line: string) => void,
  { rounds, seconds, warmUp } = SCHEDULE,
): Promise<readonly Measured[]> {
  for (const { probe } of contenders) await probe();
  const samples = new Map(contenders.map((contender) => [contender, [] as Sample[]]));
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? '  warming up' : `  round ${round} of ${rounds}`);
    for (const [contender, done] of samples) {
      done.push(await measure(contender, round === 0 ? warmUp : seconds));
    }
  }
  return [...samples].map(([{ name }, done]) => summarize(name, done));
}

interface Sample extends Run {
  readonly cpu: number;
  readonly memory: number;
}

async function measure({ server, prepare }: Contender, seconds: number): Promise<Sample> {
  const { pids } = server;
  const run = await prepare(seconds);
  forgetPeaks(pids);
  const before = cpuTime(...pids);
  const done = await run();
  return { ...done, cpu: (cpuTime(...pids) - before) / done.count, memory: peakMemory(pids) };
}

function summarize(name: string, samples: readonly Sample[]): Measured {
  const counted = samples.slice(1);
  const cpu = counted.map((sample) => sample.cpu);
  const latencies = counted.flatMap(({ latency }) => latency ?? []);
  const sum = (of: readonly Sample[], member: 'count' | 'errors') =>
    of.reduce((total, sample) => total + sample[member], 0);
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
    count: sum(counted, 'count'),
    errors: sum(samples, 'errors'),
  };
}
