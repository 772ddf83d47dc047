import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../bundle.ts';
import { entryFile } from '../parts/entry.ts';

type Edit = readonly [place: RegExp, replacement: string];

/** The edits by which a built program becomes that of a later release: a migration more, in both stores. */
const EDITS: Readonly<Record<'next' | 'incompatible', readonly Edit[]>> = {
  /** It only adds: today's may work on what it has opened. */
  next: [
    [/migrations: STATE_MIGRATIONS,/, `migrations: [...STATE_MIGRATIONS, 'CREATE TABLE a1 (x)'],`],
    [/(var SCHEMA\d* =) 1 (\+ MIGRATIONS\d*\.length;)/, '$1 2 $2'],
  ],
  /** The one after that, which removes what today's code reads. */
  incompatible: [
    [
      /migrations: STATE_MIGRATIONS,\n\s+oldest: \d+,/,
      `migrations: [...STATE_MIGRATIONS, 'CREATE TABLE a1 (x)', 'CREATE TABLE a2 (x)'],`,
    ],
    [/(var (SCHEMA\d*) =) 1 (\+ MIGRATIONS\d*\.length;\nvar OLDEST\d* =) \d+;/, '$1 3 $3 $2;'],
  ],
};

/**
 * Writes to `folder` the programs under test as a later release would have them, and resolves to its `main.js`. Rejects
 * if there is not exactly one place for each edit.
 */
export async function laterBuild(folder: string, release: keyof typeof EDITS): Promise<string> {
  const built = entryFile('.');
  await cp(built, folder, { recursive: true, filter: (path) => !path.endsWith('.map') });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const chunks = join(folder, 'shared/base');
  const texts = new Map<string, string>();
  for (const name of await readdir(chunks)) {
    texts.set(name, await readFile(join(chunks, name), 'utf8'));
  }
  for (const [place, replacement] of EDITS[release]) {
    const [found, ...others] = [...texts].filter(([, text]) => place.test(text));
    if (found === undefined || others.length > 0) throw new Error(`not one place: ${place}`);
    const [name, text] = found;
    texts.set(name, text.replace(place, replacement));
    await writeFile(join(chunks, name), texts.get(name) ?? '');
  }
  return join(folder, 'shared/start/main.js');
}
