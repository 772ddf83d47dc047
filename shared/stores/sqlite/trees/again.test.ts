/** @slow */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import {
  asPut,
  clear,
  copy,
  edit,
  move,
  puts,
  putWith,
  someCollection,
  someDocument,
  someLock,
} from '../../contract/samples.ts';
import { SqliteFile } from '../file/file.ts';
import { LONGEST_CONTENT, STATE } from '../schema/state.ts';
import type { Edit } from '../../trees/trees.ts';
import { type Database, Undone } from '../../sql/sql.ts';
import { moments } from '../../sql/moments.ts';
import { sqlTrees } from '../../sql/trees/trees.ts';

const TREE = '/documents';
/** More documents than one transaction copies or removes. */
const MANY = 250;

/**
 * Wraps the database so that each write runs once in vain before it succeeds, as after a conflict with another process.
 */
const trying = (database: Database): Database => ({
  read: (work) => database.read(work),
  snapshot: (work) => database.snapshot(work),
  recalling: (isShort) => database.recalling(isShort),
  write: async (work, options) => {
    const first = new Undone();
    const tried = database.write(async (sql) => {
      await work(sql);
      throw first;
    }, options);
    await tried.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
    return database.write(work, options);
  },
});

const CHANGES: readonly (readonly Edit[])[] = [
  puts(someCollection('a'), someCollection('a/b'), someCollection('a/b/c')),
  Array.from({ length: MANY }, (_, n) =>
    putWith(n % 3 ? `a/${n}` : `a/b/${n}`, Buffer.from(`${n}`), { file: `f${n}` }),
  ),
  puts(...Array.from({ length: MANY }, (_, n) => someCollection(`a/b/c/${n}`))),
  puts(someDocument('a/b/c/7/deep', { file: 'deep' })),
  [copy('a', 'd')],
  [{ kind: 'lock', lock: someLock('d/b', { token: 'urn:uuid:one' }) }],
  [move('d/b', 'e')],
  [{ kind: 'remove', path: 'd' }, copy('a', 'd')],
  [{ kind: 'remove', path: 'a' }],
];

async function outcomes(of: (database: Database) => Database) {
  const clock = new ManualClock();
  await using file = new SqliteFile(join(await temporaryFolder(), STATE.file), STATE, clock);
  const trees = sqlTrees(of(file), {
    moments: moments(clock, clock),
    monotonic: () => clock.monotonic(),
    random: systemRandom,
    longestContent: LONGEST_CONTENT,
  });
  const kinds: string[] = [];
  for (const edits of CHANGES) kinds.push((await edit({ trees }, TREE, edits)).kind);
  const released = await clear({ trees });
  const below = await trees.below(TREE, '', 10 * MANY);
  const { locks, locksVersion, usage } = await trees.look(TREE, []);
  const rows = await file.read((sql) =>
    ['resource', 'collection', 'content', 'tree_copy', 'tree_lock_change'].flatMap((table) =>
      sql.all(`SELECT count(*) FROM ${table}`).flat(),
    ),
  );
  return { kinds, released, below: below.map(asPut), locks, locksVersion, usage, rows };
}

test('a change that has to run again gives the same result as a change that runs once', async () => {
  const once = await outcomes((database) => database);
  expect(once.kinds).toEqual(CHANGES.map(() => 'done'));
  expect(once.below.length).toBeGreaterThan(3 * MANY);
  expect(await outcomes(trying)).toEqual(once);
});
