import { setTimeout as sleep } from 'node:timers/promises';
import { ATTACKS, type Attack } from './attacks.ts';
import { type Site, startSite } from './site.ts';

/** The addresses of the visitors, which no attacker uses. */
const VISITORS = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
/** Milliseconds between two visits of a visitor. */
const PAUSE = 20;
/** Milliseconds, at most, for an attack to take effect, and to end. */
const SETTLED = 1000;
/** The longest turn of the event loop may take at most this many times as long during an attack. */
const TIMES = 2;

/** Measurements of one slice of time, in milliseconds. */
interface Slice {
  visits: number;
  failures: string[];
  /** The time of the longest visit. */
  wait: number;
  /** The longest turn of the server's event loop, by the clock and by the CPU time of its thread. */
  turn: number;
  cpu: number;
}

export interface Outcome {
  readonly alone: readonly Slice[];
  readonly attacked: readonly Slice[];
}

/** Measures slices of visits, alternately without and with the attack. */
export async function exhaust(
  site: Site,
  attack: Attack,
  { slices, milliseconds }: { readonly slices: number; readonly milliseconds: number },
): Promise<Outcome> {
  const [alone, attacked]: [Slice[], Slice[]] = [[], []];
  await visitFor(site, attack, milliseconds); // a first slice, so that the code is compiled
  for (let slice = 0; slice < slices; slice += 1) {
    alone.push(await visitFor(site, attack, milliseconds));
    const over = new AbortController();
    attack.begin(site, over.signal);
    await sleep(Math.min(SETTLED, milliseconds));
    attacked.push(await visitFor(site, attack, milliseconds));
    over.abort();
    await sleep(Math.min(SETTLED, milliseconds));
  }
  return { alone, attacked };
}

/** Each visitor makes at least one visit, because the monitor may begin late on a busy machine. */
async function visitFor(site: Site, { visit }: Attack, milliseconds: number): Promise<Slice> {
  const slice: Slice = { visits: 0, failures: [], wait: 0, turn: 0, cpu: 0 };
  const end = performance.now() + milliseconds;
  const visitor = async (address: string) => {
    do {
      const begun = performance.now();
      await visit(site.port, address).catch((error: unknown) => slice.failures.push(String(error)));
      slice.visits += 1;
      slice.wait = Math.max(slice.wait, performance.now() - begun);
      await sleep(PAUSE);
    } while (performance.now() < end);
  };
  const { delay } = await site.monitor.during(site, () => Promise.all(VISITORS.map(visitor)));
  return { ...slice, turn: delay.max, cpu: delay.cpu };
}

/**
 * Runs each named attack for two minutes. Rejects if a visit fails, or if turns of the event loop take too
 * long.
 */
export async function soakExhaustion(
  names: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  await using site = await startSite();
  const wrong: string[] = [];
  for (const name of names) {
    const attack = ATTACKS[name];
    if (attack === undefined) throw new Error(`no attack ${name}`);
    say(`${name}: ${attack.title}`);
    say('          visits  failed  longest wait  longest turn  its CPU (medians)');
    const { alone, attacked } = await exhaust(site, attack, { slices: 6, milliseconds: 10_000 });
    for (const [index, slices] of [alone, attacked].entries()) {
      say([index === 0 ? 'alone   ' : 'attacked', ...figures(slices)].join('  '));
    }
    const failures = attacked.flatMap((slice) => slice.failures);
    if (failures.length > 0)
      wrong.push(`${name}: ${failures.length} failed, such as ${failures[0]}`);
    const [before = 0, during = 0] = [alone, attacked].map(longestTurn);
    if (during > TIMES * before) wrong.push(`${name}: turns of ${during} ms, ${before} ms before`);
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

/**
 * The longest turn by the clock, on an idle machine. The CPU time is the server's part of it, including
 * garbage collection.
 */
const longestTurn = (slices: readonly Slice[]) => median(slices.map(({ turn }) => turn));

function figures(slices: readonly Slice[]): string[] {
  const visits = slices.reduce((sum, slice) => sum + slice.visits, 0);
  const failed = slices.reduce((sum, slice) => sum + slice.failures.length, 0);
  const wait = Math.max(...slices.map((slice) => slice.wait));
  return [
    `${visits}`.padStart(6),
    `${failed}`.padStart(6),
    `${wait.toFixed(0)} ms`.padStart(12),
    `${longestTurn(slices).toFixed(1)} ms`.padStart(12),
    `${median(slices.map(({ cpu }) => cpu)).toFixed(1)} ms`.padStart(12),
  ];
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
