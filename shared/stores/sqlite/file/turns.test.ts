/** @slow */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { startProcess, until } from '../../../../e2e/parts/process.ts';
import { Room } from './room.ts';
import { Turns } from './turns.ts';

const ALL = 300;
/** Writes of one process in a row, on average: with turns about two, without them 25 to 50. */
const RUN = 10;
/** The part of all commits that each has at least: about half, by turns that are alike. */
const LEAST = 0.3;

test('if the process may not read the lock file, no write waits, and no timer throws', async () => {
  const path = join(await temporaryFolder(), 'some.db.waiting');
  symlinkSync(path, path);
  const turns = new Turns(path, new ManualClock());
  turns.ask();
  expect(turns.isAsked).toBe(false);
  expect(new Room(join(path, 'some.db'), new ManualClock()).look()).toBe(false);
});

test('two processes that write to one file without a pause take turns, and each gets its share of the commits', async () => {
  const path = join(await temporaryFolder(), 'some.db');
  const fixture = join(import.meta.dirname, 'greedy.fixture.ts');
  // The processes end with the test, since a hook that removed the folder first would break their writes.
  await using writers = new AsyncDisposableStack();
  for (const who of ['one', 'other']) {
    const args = ['--disable-warning=ExperimentalWarning', fixture, path, who];
    writers.use(await startProcess(process.execPath, args, { ready: () => true }));
  }
  const written = () => {
    try {
      using database = new DatabaseSync(path, { readOnly: true });
      return database.prepare('SELECT who FROM done ORDER BY rowid').all();
    } catch {
      return []; // The file does not exist yet.
    }
  };
  /** Returns the writes from the first one of the second process on. */
  const both = () => {
    const all = written().map(({ who }) => String(who));
    return all.slice(Math.max(all.indexOf('one'), all.indexOf('other')));
  };
  await until(() => new Set(written().map(({ who }) => who)).size === 2);
  await until(() => both().length >= ALL);
  const runs =
    both()
      .join(' ')
      .match(/one(?: one)*|other(?: other)*/g) ?? [];
  expect(both().length / runs.length).toBeLessThan(RUN);
  const ofOne = both().filter((who) => who === 'one').length;
  expect(ofOne / both().length).toBeGreaterThan(LEAST);
  expect(ofOne / both().length).toBeLessThan(1 - LEAST);
});
