import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demo } from './demo.ts';
import type { DemoParts } from './demo.ts';

const FILE = 'first-start.txt';

/** Seconds in which, of several processes that start at once, one does this. */
const AT_ONCE = 10;

/** For the parent process to print. */
export interface FirstStart {
  /** The file that keeps what was printed; later starts name it. */
  readonly firstStart?: string;
  /** Absent when nothing was made. */
  readonly lines?: readonly string[];
}

/**
 * Development only: makes clients, a person and an API key so that there is something to try, each if it
 * was never there (a key: if there is no demo key), and keeps their secrets in a file that only its owner may read.
 */
export async function firstStart(parts: DemoParts): Promise<FirstStart> {
  const { config, stores } = parts;
  const file = join(config.data, FILE);
  const makes = demo(config);
  const made: (readonly string[])[] = [];
  if (await stores.replay.unique('first-start', FILE, AT_ONCE)) {
    for (const make of makes) made.push(await make(parts));
  }
  const sections = made.filter((lines) => lines.length > 0);
  if (sections.length === 0) return existsSync(file) ? { firstStart: file } : {};

  const lines = sections.flatMap((section) => ['', ...section]).slice(1);
  // When all is new, a file that is there is of a store that is no more.
  const flag = sections.length === makes.length ? 'w' : 'a';
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flag, flush: true });
  return { firstStart: file, lines: [...lines, '', `These lines are kept in ${file}`] };
}
