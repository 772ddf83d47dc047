import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demo, type DemoParts, type Made } from './demo.ts';

const FILE = 'first-start.txt';
/** The file with only the secrets, for a shell: `. data/first-start.env`. */
const VARIABLES = 'first-start.env';

/** Seconds within which one of several processes that start at the same time runs the first start. */
const AT_ONCE = 10;

/** The result of the first start, for the parent process to print. */
export interface FirstStart {
  /** The file with what was printed; later starts name it. */
  readonly firstStart?: string;
  /** Absent if nothing was created. */
  readonly lines?: readonly string[];
}

/**
 * In development only: creates clients, a person and an API key to try the servers with. Each is created if it never
 * existed (a key: if there is no demo key). Their secrets are stored in a file that only its owner may read.
 */
export async function firstStart(parts: DemoParts): Promise<FirstStart> {
  const { config, stores } = parts;
  const file = join(config.data, FILE);
  const makes = demo(config);
  const made: Made[] = [];
  // With PostgreSQL the folder may not exist yet, and the secrets are printed only now.
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
  // If everything is new, an existing file belongs to an earlier store.
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
