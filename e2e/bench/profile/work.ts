import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CPU, stayOn } from '../cpu.ts';
import { WARM_UP, warmUp } from '../measure.ts';
import { ROOMS } from '../whole.ts';
import { AT_ONCE, type Loaded } from '../work.ts';
import { flameGraph } from './flame-graph.ts';
import { fold } from './fold.ts';
import { profiled } from './inspector.ts';
import { threadShares, threadTicks } from './threads.ts';

/** Seconds of load. */
const LOOKED_AT = 10;

/**
 * Writes a flame graph of our server at one work of the whole table; resolves to its path, and to what its threads did of
 * the work. Rejects when there is no such work or way, and names those that there are.
 */
export async function profileWork(
  name: string,
  way = 'SQLite',
): Promise<{ readonly file: string; readonly threads: string }> {
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
  const pid = contender.server.pids[0] ?? 0;
  const before = threadTicks(pid);
  const profile = await profiled(pid, run);
  const threads = threadShares(before, threadTicks(pid));
  const file = join(
    tmpdir(),
    `countersign-${`${name} ${way}`.replaceAll(/[^A-Za-z0-9]+/g, '-')}.svg`,
  );
  await writeFile(file, flameGraph(fold(profile), `${name}, ${way}`));
  return { file, threads };
}
