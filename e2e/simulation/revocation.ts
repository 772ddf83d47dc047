import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { dice } from '../attacks/dice.ts';
import { quantile } from '../flows/followers/followed.ts';
import { LATENCIES, Network } from './network.ts';
import {
  type SimulatedFollower,
  simulatedFollower,
  simulatedProcess,
} from './simulated-servers.ts';
import { EPOCH, SimulatedStore } from './simulated-store.ts';
import { Machine, SimulatedTime } from './simulated-time.ts';

export interface Scenario {
  readonly seed: number;
  readonly followers: number;
  /** Revocations per second. */
  readonly rate: number;
  /** Simulated seconds with revocations. */
  readonly seconds: number;
  /** Milliseconds between two faults; Infinity: no faults. */
  readonly faults: number;
  /** The part of messages that is lost. */
  readonly loss: number;
  /** The greatest deviation of a clock's rate. */
  readonly drift: number;
  /** Above 1, followers trust their data for longer than a revocation waits. */
  readonly trusts?: number;
}

export interface Outcome {
  /** The number of faults. */
  readonly faults: number;
  readonly acknowledged: number;
  /** Revocations that got 503, or whose process was killed. They may be stored. */
  readonly unanswered: number;
  /** Milliseconds until the acknowledgement. */
  readonly took: { readonly median: number; readonly p99: number; readonly most: number };
  /** Verdicts after an acknowledgement, by the follower's region. */
  readonly verdicts: readonly { readonly all: number; readonly unavailable: number }[];
  /** Verdicts that accepted a revoked token after the acknowledgement. There must be none. */
  readonly letIn: number;
}

const TIMES = { lease: 2, hold: 15 };
const PROCESSES = 3;
const FOLLOWERS_OF_CLIENT = 100;
/** Milliseconds before the first revocation, and after the last. */
const BEFORE = 3_000;
const AFTER = 4_000;
/**
 * Followers per fault. After each acknowledgement this many of them, and as many other followers, are
 * asked.
 */
const TOGETHER = 6;
/** After this many acknowledgements the same followers are asked once more, later. */
const AGAIN = 10;
/** After this many acknowledgements all followers are asked. */
const ALL = 500;
/**
 * One of this many revocations is for a token; each other one is for all tokens of one of this many people.
 */
const TOKENS = 5;
const PEOPLE = 500;
/** A time so late that no revocation is forgotten. */
const FAR = 4_000_000_000_000;

/**
 * Revokes for a while during faults, and asks the followers after each acknowledgement. The same seed has
 * the same result.
 */
export async function simulateRevocation(scenario: Scenario): Promise<Outcome> {
  const { seed, rate, seconds, faults, loss, drift, trusts = 1 } = scenario;
  const roll = dice(seed);
  const time = new SimulatedTime();
  const network = new Network(time, roll, loss);
  const store = new SimulatedStore(time);
  const machine = () => new Machine(time, 1 + (drift * (roll(2_001) - 1_000)) / 1_000);
  const newProcess = () => simulatedProcess(machine(), store, TIMES, roll);
  const processes = Array.from({ length: PROCESSES }, newProcess);
  const processOf = (n: number) => processes[n % PROCESSES] ?? newProcess();

  const followers = Array.from({ length: scenario.followers }, (_, n): SimulatedFollower => {
    let server = roll(PROCESSES);
    const process = (failed: boolean) => processOf(failed ? (server += 1) : server);
    const client = `client ${Math.floor(n / FOLLOWERS_OF_CLIENT)}`;
    const place = { region: n % LATENCIES.length, machine: machine() };
    return simulatedFollower(place, { network, client, hold: TIMES.hold, trusts, process });
  });
  /** Some random followers. */
  const some = () =>
    Array.from({ length: TOGETHER }, () => followers[roll(followers.length)]).filter(
      (one) => one !== undefined,
    );
  /** The followers of the last fault, which are asked more often. */
  let met: readonly SimulatedFollower[] = some();

  const verdicts = LATENCIES.map(() => ({ all: 0, unavailable: 0 }));
  const took: number[] = [];
  let letIn = 0;

  function verdict({ region, machine: its, feed }: SimulatedFollower, claims: RevocableClaims) {
    const counts = verdicts[region];
    if (its.standsStill || counts === undefined) return;
    counts.all += 1;
    try {
      if (feed.current().revokedBy(claims) === undefined) letIn += 1;
    } catch {
      counts.unavailable += 1;
    }
  }

  function ask(claims: RevocableClaims): void {
    if (took.length % ALL === 0) for (const one of followers) verdict(one, claims);
    for (const one of [...met, ...some()]) {
      verdict(one, claims);
      if (took.length % AGAIN === 0) time.plan(roll(AFTER), () => verdict(one, claims));
    }
  }

  async function revoke(n: number): Promise<void> {
    const { revocations } = processOf(n);
    const began = time.now;
    const person = `person ${roll(PEOPLE)}`;
    const generation =
      n % TOKENS === 0
        ? await revocations.revoke('token', `token ${n}`, FAR)
        : await revocations.raise('person', person, FAR);
    took.push(time.now - began);
    ask({
      jti: `token ${n}`,
      kid: 'key',
      sub: person,
      client_id: 'client',
      client_gen: 0,
      epoch: EPOCH,
      ...(generation !== undefined && { sub_gen: generation - 1 }),
    });
  }

  const FAULTS = [
    () => {
      const region = roll(LATENCIES.length);
      network.cut(region, 100 + roll(3_000));
      met = followers.filter((one) => one.region === region).slice(0, TOGETHER);
    },
    () => (met = some()).forEach((one) => network.cut(one, 500 + roll(5_000))),
    () => (met = some()).forEach(({ machine: its }) => its.standStill(500 + roll(5_000))),
    () => processOf(roll(PROCESSES)).machine.standStill(100 + roll(3_000)),
    () => store.goAway(50 + roll(500)),
    () => {
      const killed = roll(PROCESSES);
      processOf(killed).machine.standStill(Infinity);
      processes[killed] = newProcess();
    },
  ] as const;

  // The first process finds a store without a record of earlier followers.
  processOf(0)
    .revocations.revoke('token', 'first', FAR)
    .catch(() => {});
  const end = BEFORE + seconds * 1000;
  for (let n = 0; n < rate * seconds; n += 1) {
    time.plan(BEFORE + (n * 1000) / rate, () => void revoke(n).catch(() => {}));
  }
  let happened = 0;
  for (let at = BEFORE + faults; at < end; at += faults) {
    time.plan(at, () => {
      happened += 1;
      FAULTS[roll(FAULTS.length)]?.();
    });
  }
  await time.run(end + AFTER);
  await Promise.all(followers.map(({ feed }) => feed[Symbol.asyncDispose]()));
  return {
    faults: happened,
    acknowledged: took.length,
    unanswered: rate * seconds - took.length,
    took: { median: quantile(took, 0.5), p99: quantile(took, 0.99), most: quantile(took, 1) },
    verdicts,
    letIn,
  };
}
