import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demo, type DemoParts, type Made } from './demo.ts';

const FILE = 'first-start.txt';
/** The secrets alone, for a shell: `. data/first-start.env`. */
const VARIABLES = 'first-start.env';

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
  const made: Made[] = [];
  // With PostgreSQL there may be no folder yet, and what is made now is not told again.
  await mkdir(config.data, { recursive: true, mode: 0o700 });
  if (await stores.replay.unique('first-start', FILE, AT_ONCE)) {
    for (const make of makes) {
      const one = await make(parts);
      if (one) made.push(one);
    }
  }
  if (made.length === 0) return existsSync(file) ? { firstStart: file } : {};

  const lines = made.flatMap((section) => ['', ...section.lines]).slice(1);
  const variables = made.flatMap((section) =>
    Object.entries(section.variables).map(([name, value]) => `${name}='${value}'`),
  );
  // When all is new, a file that is there is of a store that is no more.
  const flag = made.length === makes.length ? 'w' : 'a';
  const write = (name: string, content: readonly string[]) =>
    writeFile(join(config.data, name), content.map((line) => `${line}\n`).join(''), {
      mode: 0o600,
      flag,
      flush: true,
    });
  await write(FILE, lines);
  if (variables.length > 0) await write(VARIABLES, variables);
  return {
    firstStart: file,
    lines: [
      ...lines,
      '',
      `These lines are kept in ${file}`,
      `The secrets for a shell: . ${join(config.data, VARIABLES)}`,
    ],
  };
}
