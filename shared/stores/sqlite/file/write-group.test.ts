import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { Undone } from '../../sql/sql.ts';
import type { Statements } from './held.ts';
import { SqliteFile } from './file.ts';
import type { Schema } from './schema.ts';
import { restore } from '../under-test.ts';

const clock = new ManualClock();
const schema: Schema = {
  file: 'some.db',
  synchronous: 'FULL',
  reserveFor: 'all',
  migrations: [
    `CREATE TABLE a (x INTEGER PRIMARY KEY);
     CREATE TABLE b (x INTEGER REFERENCES a (x) DEFERRABLE INITIALLY DEFERRED);`,
  ],
  expired: {},
};
let path: string;
let file: SqliteFile;
let outside: DatabaseSync;
beforeEach(async () => {
  path = join(await temporaryFolder(), schema.file);
  file = new SqliteFile(path, schema, clock);
  outside = new DatabaseSync(path);
});
afterEach(async () => {
  outside.close();
  await file[Symbol.asyncDispose]();
});

const add = (x: number) => (connection: Statements) =>
  connection.run('INSERT INTO a VALUES (?)', x);
const rows = (connection: Statements) => connection.all<[x: number]>('SELECT x FROM a').flat();
/** Returns the rows that another connection sees. */
const seen = () =>
  outside
    .prepare('SELECT x FROM a')
    .all()
    .map(({ x }) => x);
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof StoreUnavailable ? 'unavailable' : String(error)),
  );

test.each([
  ['alone', []],
  ['among others', [1, 2]],
])(
  'a write that is rolled back, %s, leaves no row, and does not count as a failure',
  async (_, others) => {
    const undone = new Undone();
    const undo = file.write((connection) => {
      add(3)(connection);
      throw undone;
    });
    await Promise.all([
      expect(undo).rejects.toBe(undone),
      ...others.map((x) => file.write(add(x))),
    ]);
    expect(seen()).toEqual(others);
    expect(() => file.check('all')).not.toThrow();
  },
);

test('the writes of a turn are one transaction, in their order, and none resolves before the commit', async () => {
  const answers: number[] = [];
  const sawMeanwhile: unknown[] = [];
  const writes = [3, 1, 2].map(async (x) => {
    await file.write((connection) => {
      sawMeanwhile.push([rows(connection), seen(), [...answers]]);
      add(x)(connection);
    });
    answers.push(x);
  });
  await Promise.all(writes);
  expect(sawMeanwhile).toEqual([
    [[], [], []],
    [[3], [], []],
    [[1, 3], [], []],
  ]);
  expect(answers).toEqual([3, 1, 2]);
  expect(seen()).toEqual([1, 2, 3]);
});

test('a write that throws fails alone, and leaves no row', async () => {
  const half = file.write((connection) => {
    add(2)(connection);
    throw new Error('the process changed its mind');
  });
  const writes = [file.write(add(1)), half, file.write(add(1)), file.write(add(3))];
  expect(await Promise.all(writes.map(outcome))).toEqual([
    'done',
    'unavailable',
    'unavailable',
    'done',
  ]);
  expect(seen()).toEqual([1, 3]);
});

test('if a commit fails, all its writes fail, and the next turn is a new transaction', async () => {
  const orphan = (connection: Statements) => connection.run('INSERT INTO b VALUES (9)');
  const writes = [file.write(add(1)), file.write(orphan), file.write(add(2))];
  const reading = file.read(rows);
  expect(await Promise.all(writes.map(outcome))).toEqual(Array(3).fill('unavailable'));
  expect(await reading).toEqual([]);
  expect(await outcome(file.write(add(1)))).toBe('done');
  expect(seen()).toEqual([1]);
});

test('an error that makes SQLite roll back the transaction fails all its writes', async () => {
  const rollback = (connection: Statements) =>
    connection.run('INSERT OR ROLLBACK INTO a VALUES (1)');
  const writes = [file.write(add(1)), file.write(rollback), file.write(add(2))];
  expect(await Promise.all(writes.map(outcome))).toEqual(Array(3).fill('unavailable'));
  expect(seen()).toEqual([]);
});

test('a read does not wait for writes: it sees only committed rows', async () => {
  const sawMeanwhile: unknown[] = [];
  const look = async () =>
    sawMeanwhile.push(await file.read((connection) => [rows(connection), seen()]));
  const written = file.write(add(1));
  await look();
  await written;
  const second = file.write(add(2));
  await look();
  await second;
  await look();
  expect(sawMeanwhile).toEqual([
    [[], []],
    [[1], [1]],
    [
      [1, 2],
      [1, 2],
    ],
  ]);
});

test('a transaction has at most 64 writes, then other work gets its turn', async () => {
  const sawMeanwhile: number[] = [];
  const writes = Array.from({ length: 150 }, (_, x) =>
    file.write((connection) => {
      sawMeanwhile.push(seen().length);
      add(x)(connection);
    }),
  );
  await turn();
  // After the first transaction, without waiting for the others.
  outside.exec('INSERT INTO a VALUES (1000)');
  await Promise.all(writes);
  expect(sawMeanwhile).toEqual([
    ...Array(64).fill(0),
    ...Array(64).fill(65),
    ...Array(22).fill(129),
  ]);
});

test('a transaction accepts no further write after 5 ms', async () => {
  const sawMeanwhile: number[] = [];
  const writes = Array.from({ length: 5 }, (_, x) =>
    file.write((connection) => {
      sawMeanwhile.push(seen().length);
      add(x)(connection);
      clock.advance(0.003);
    }),
  );
  await Promise.all(writes);
  expect(sawMeanwhile).toEqual([0, 0, 2, 2, 4]);
});

test('while another process writes, reads are answered, and the waiting writes are done in order, once each', async () => {
  outside.exec('BEGIN IMMEDIATE; INSERT INTO a VALUES (1000)');
  const order: number[] = [];
  const writes = Array.from({ length: 100 }, async (_, x) => {
    await file.write(add(x));
    order.push(x);
  });
  await turn();
  const late = file.write(add(100));
  for (let n = 0; n < 50; n += 1) {
    await turn();
    expect(await file.read(rows)).toEqual([]);
  }
  expect(order).toEqual([]);
  outside.exec('COMMIT');
  await Promise.all([...writes, late]);
  expect(order).toEqual(Array.from({ length: 100 }, (_, x) => x));
  expect(seen()).toEqual([...Array.from({ length: 101 }, (_, x) => x), 1000]);
});

test('each write waits two seconds for another process; then it fails alone, and is not done later', async () => {
  outside.exec('BEGIN IMMEDIATE');
  const first = file.write(add(1));
  await turn();
  clock.advance(1.9);
  const second = file.write(add(2));
  clock.advance(0.2);
  expect(await outcome(first)).toBe('unavailable');
  outside.exec('COMMIT');
  expect(await outcome(second)).toBe('done');
  expect(seen()).toEqual([2]);
});

test('several processes that write at the same time all get their turns', async () => {
  const other = new SqliteFile(path, schema, clock);
  const writes = Array.from({ length: 200 }, async (_, x) => {
    const through = x % 2 === 0 ? file : other;
    for (let n = 0; n < 5; n += 1) await through.write(add(1000 * x + n));
  });
  await Promise.all(writes);
  await other[Symbol.asyncDispose]();
  expect(seen()).toHaveLength(1000);
});

test('closing a file waits two seconds in all for another process, not for each group', async () => {
  let time = 0;
  const hurried = { now: () => time, monotonic: () => (time += 2_000) };
  const closing = new SqliteFile(path, schema, hurried);
  outside.exec('BEGIN IMMEDIATE');
  const writes = Array.from({ length: 200 }, (_, x) => closing.write(add(x)));
  await closing[Symbol.asyncDispose]();
  expect(new Set(await Promise.all(writes.map(outcome)))).toEqual(new Set(['unavailable']));
  outside.exec('COMMIT');
  expect(seen()).toEqual([]);
});

test('writes that wait when the file is closed are done; later writes fail', async () => {
  const writes = Array.from({ length: 100 }, (_, x) => file.write(add(x)));
  await file[Symbol.asyncDispose]();
  const late = outcome(file.write(add(1000)));
  expect(new Set(await Promise.all(writes.map(outcome)))).toEqual(new Set(['done']));
  expect(await late).toBe('unavailable');
  expect(seen()).toHaveLength(100);
});

test('if another file replaces the store, the next write and the reads of the next turn use the new file', async () => {
  const fileWith = async (x: number) => {
    const other = new SqliteFile(join(dirname(path), 'other.db'), schema, clock);
    await other.write(add(x));
    await other[Symbol.asyncDispose]();
    return other.path;
  };
  await file.write(add(1));

  const second = await fileWith(2);
  expect(await file.read(rows)).toEqual([1]);
  const restoring = restore(second, path);
  const written = file.write(add(3));
  await Promise.all([restoring, written]);
  expect(await file.read(rows)).toEqual([2, 3]);

  const third = await fileWith(4);
  expect(await file.read(rows)).toEqual([2, 3]);
  await restore(third, path);
  expect(await file.read(rows)).toEqual([4]);
});
