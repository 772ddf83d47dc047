import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CPU, stayOn } from '../cpu.ts';
import { WARM_UP, warmUp } from '../measure.ts';
import { ROOMS } from '../whole.ts';
import type { Run } from '../measure.ts';
import { AT_ONCE, type Loaded } from '../work.ts';
import { flameGraph } from './flame-graph.ts';
import { fold, octetsTaken } from './fold.ts';
import { outlived, profiled } from './inspector.ts';
import { threadShares, threadTicks } from './threads.ts';

/** Seconds of load. */
const LOOKED_AT = 10;

/** The process of our server, and a run of its load. */
interface Loading {
  readonly pid: number;
  readonly run: () => Promise<Run>;
}

/**
 * Writes a flame graph of our server during one work of the whole table; resolves to its path, and to the
 * shares of its threads.
 */
export const profileWork = (
  name: string,
  way = 'SQLite',
): Promise<{ readonly file: string; readonly threads: string }> =>
  atWork(name, way, async ({ pid, run }) => {
    const before = threadTicks(pid);
    const profile = await profiled(pid, run);
    const threads = threadShares(before, threadTicks(pid));
    const file = join(
      tmpdir(),
      `countersign-${`${name} ${way}`.replaceAll(/[^A-Za-z0-9]+/g, '-')}.svg`,
    );
    await writeFile(file, flameGraph(fold(profile), `${name}, ${way}`));
    return { file, threads };
  });

/** The number of lines of `survivorsOf`. */
const LISTED = 20;

/**
 * Returns how many octets per request survive young garbage collections during one work of the whole table,
 * in all and by function. V8 moves survivors twice, and collects them with the old garbage, which is far
 * more expensive.
 */
export const survivorsOf = (name: string, way = 'SQLite'): Promise<readonly string[]> =>
  atWork(name, way, async ({ pid, run }) => {
    let count = 0;
    const profile = await outlived(pid, async () => ({ count } = await run()));
    const taken = octetsTaken(profile);
    const all = taken.reduce((sum, [, octets]) => sum + octets, 0);
    return [['in all', all] as const, ...taken.slice(0, LISTED)].map(
      ([what, octets]) => `${Math.round(octets / count)}`.padStart(6) + ` ${what}`,
    );
  });

/** Rejects if the work or way does not exist, and names the existing ones. */
async function atWork<T>(
  name: string,
  way: string,
  look: (loading: Loading) => Promise<T>,
): Promise<T> {
  const room = ROOMS.find(({ names }) => names.includes(name));
  if (room === undefined) {
    const all = ROOMS.flatMap(({ names }) => names).join('\n  ');
    throw new Error(`There is no work "${name}", only:\n  ${all}`);
  }
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const work = (await room.open(stack)).find((one) => one.name === name);
  const ways: Readonly<Record<string, Loaded>> = (await work?.loads())?.ways ?? {};
  const load = ways[way];
  if (load === undefined)
    throw new Error(`Of "${name}" there is only: ${Object.keys(ways).join(', ')}.`);
  const contender = load(work?.atOnce ?? AT_ONCE);
  await contender.probe();
  await warmUp(contender, { ...WARM_UP, ...work?.schedule?.warmUp });
  const run = await contender.prepare(LOOKED_AT);
  return await look({ pid: contender.server.pids[0] ?? 0, run });
}
