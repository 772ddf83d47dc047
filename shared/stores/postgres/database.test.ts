import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Snapshot, Sql, Transaction } from '../sql/sql.ts';
import { type DatabaseOptions, PostgresDatabase } from './database.ts';
import { NUMBERS } from './schema.ts';
import { STATE_TABLES } from '../sql/tables.ts';

let primary: Postgres;
let standby: Postgres;
beforeAll(async () => {
  // It tells of errors alone where nobody asks for more.
  primary = await startPostgres({ language: 'de', settings: ['client_min_messages = error'] });
  standby = await startPostgres({ standbyOf: primary });
  await using database = open();
  await database.migrate({ migrations: [STATE_TABLES + NUMBERS] });
  await until(async () => (await standby.sql('SELECT count(*) FROM countersign.numbers')) === '5');
});
afterAll(async () => {
  await standby[Symbol.asyncDispose]();
  await primary[Symbol.asyncDispose]();
});

const open = (options: Partial<DatabaseOptions> = {}) =>
  new PostgresDatabase({
    urls: [primary.url],
    schema: 'countersign',
    connections: 10,
    deadline: 10_000,
    monotonic: () => performance.now(),
    chance: Math.random,
    outage: new Outage('PostgreSQL', silentLog, () => performance.now()),
    ...options,
  });

const INSERT = 'INSERT INTO generation (kind, id, generation) VALUES (?, ?, 0)';
const RAISE = 'UPDATE generation SET generation = generation + 1 WHERE kind = ? AND id = ?';
const COUNT = 'SELECT generation FROM generation WHERE kind = ? AND id = ?';

test('two writes that deadlock are both done: PostgreSQL aborts one, and the process runs it again', async () => {
  await using database = open();
  const [a, b] = ['left', 'right'];
  await database.write(async (sql) => {
    for (const id of [a, b]) await sql.run(INSERT, 'deadlock', id);
  });
  let begun = 0;
  const both = Promise.withResolvers<void>();
  const raise = (first: string, second: string) => {
    let runs = 0;
    return database.write(async (sql) => {
      runs += 1;
      await sql.run(RAISE, 'deadlock', first);
      begun += 1;
      if (begun === 2) both.resolve();
      await both.promise;
      await sql.run(RAISE, 'deadlock', second);
      return runs;
    });
  };
  const runs = await Promise.all([raise(a, b), raise(b, a)]);
  expect(runs.toSorted()).toEqual([1, 2]);
  for (const id of [a, b]) {
    expect(await database.read((sql) => sql.all(COUNT, 'deadlock', id))).toEqual([[2]]);
  }
});

test('two transactions of several parts that deadlock are both done: `work` of one runs again', async () => {
  await using database = open();
  const [a, b] = ['left', 'right'];
  await database.write(async (sql) => {
    for (const id of [a, b]) await sql.run(INSERT, 'parts', id);
  });
  let begun = 0;
  const both = Promise.withResolvers<void>();
  const raise = (first: string, second: string) => {
    let runs = 0;
    return database.together(async (held) => {
      runs += 1;
      await held.write((sql) => sql.run(RAISE, 'parts', first));
      begun += 1;
      if (begun === 2) both.resolve();
      await both.promise;
      await held.write((sql) => sql.run(RAISE, 'parts', second));
      return runs;
    });
  };
  const runs = await Promise.all([raise(a, b), raise(b, a)]);
  expect(runs.toSorted()).toEqual([1, 2]);
  for (const id of [a, b]) {
    expect(await database.read((sql) => sql.all(COUNT, 'parts', id))).toEqual([[2]]);
  }
});

test('if many writes wait for one row, reads still get connections, and another write gets the next turn', async () => {
  // One of the two connections is for writes.
  await using database = open({ connections: 2 });
  const order: string[] = [];
  const free = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const hot = (work: () => unknown) =>
    database.write(
      async (sql) => {
        order.push('hot');
        await sql.lockNames(['hot']);
        await work();
      },
      { turn: 'hot' },
    );
  const all = [hot(() => (begun.resolve(), free.promise))];
  await begun.promise;
  for (let n = 0; n < 10; n += 1) all.push(hot(() => {}));
  all.push(database.write(() => void order.push('other')));
  const read = await database.read((sql) => sql.all('SELECT 1'));
  free.resolve();
  await Promise.all(all);
  expect(read).toEqual([[1]]);
  expect(order.slice(0, 2)).toEqual(['hot', 'other']);
  expect(order).toHaveLength(12);
});

test('every second turn goes to a write that waits for no row, however many writes wait for rows', async () => {
  await using database = open({ connections: 1 });
  const order: string[] = [];
  const free = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const all = [database.write(() => (begun.resolve(), free.promise), { turn: 'row 0' })];
  await begun.promise;
  for (let n = 0; n < 20; n += 1) {
    all.push(database.write(() => void order.push('row'), { turn: `row ${n}` }));
  }
  for (let n = 0; n < 5; n += 1) all.push(database.write(() => void order.push('other')));
  free.resolve();
  await Promise.all(all);
  expect(order.slice(0, 10).filter((kind) => kind === 'other')).toHaveLength(5);
  expect(order).toHaveLength(25);
});

test('a write that gets no turn before the deadline is refused, and the server does not count as failed', async () => {
  let time = 0;
  const outage = new Outage('PostgreSQL', silentLog, () => time);
  await using database = open({ connections: 1, monotonic: () => time, outage });
  const free = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const first = database.write(() => (begun.resolve(), free.promise));
  await begun.promise;
  let runs = 0;
  const late = database.write(() => void (runs += 1));
  const refused = expect(late).rejects.toMatchObject({ refused: true });
  time += 10_001;
  free.resolve();
  await refused;
  await first;
  expect([runs, outage.isFailing]).toEqual([0, false]);
  await database.write(() => void (runs += 1));
  expect(runs).toBe(1);
});

test('a write that PostgreSQL aborts late because of another write is run again', async () => {
  let time = 0;
  await using database = open({ monotonic: () => time });
  let runs = 0;
  await database.write(async (sql) => {
    runs += 1;
    time += 60_000;
    if (runs === 1) await sql.run(`DO 'BEGIN RAISE serialization_failure; END'`);
  });
  expect(runs).toBe(2);
});

test('the defaults of a role change no transaction, and only writes that must last wait for the disk', async () => {
  await primary.sql(`
    ALTER ROLE postgres SET synchronous_commit = local;
    ALTER ROLE postgres SET default_transaction_isolation = serializable;`);
  await using database = open();
  const settings = `SELECT current_setting('synchronous_commit'), current_setting('transaction_isolation')`;
  const shown = (sql: Sql) => sql.all(settings);
  expect(await database.write(shown)).toEqual([['on', 'read committed']]);
  expect(await database.passing.write(shown)).toEqual([['off', 'read committed']]);
  const atOnce = database.passing.write((sql) => sql.last.all(settings));
  expect(await atOnce).toEqual([['off', 'read committed']]);
  expect(await database.write(shown)).toEqual([['on', 'read committed']]);
  await primary.sql('ALTER ROLE postgres RESET ALL');
});

test('an error within a write rolls it back, and the connection stays usable', async () => {
  await using database = open({ connections: 1 });
  const failing = database.write(async (sql) => {
    await sql.run(INSERT, 'undone', 'x');
    throw new Error('the process changed its mind');
  });
  await expect(failing).rejects.toThrow('the process changed its mind');
  expect(await database.read((sql) => sql.all(COUNT, 'undone', 'x'))).toEqual([]);
});

test('a warning of a statement, such as that transaction ids run out, puts no commit in doubt', async () => {
  await using database = open();
  const warns = `DO 'BEGIN RAISE WARNING ''database must be vacuumed''; END'`;
  for (const [n, last] of [(sql: Transaction) => sql, (sql: Transaction) => sql.last].entries()) {
    await database.write(async (sql) => {
      await sql.later(warns);
      await last(sql).run(INSERT, 'warned', `${n}`);
    });
    await database.write(async (sql) => {
      await sql.run(RAISE, 'warned', `${n}`);
      await last(sql).run(warns);
    });
    expect(await database.read((sql) => sql.all(COUNT, 'warned', `${n}`))).toEqual([[1]]);
  }
});

test('a write that was given up runs no further statement', async () => {
  await using database = open({ connections: 1 });
  const asked: Promise<unknown>[] = [];
  const insert = async (sql: Transaction, ...ids: readonly string[]) => {
    for (const id of ids) await sql.run(INSERT, 'given up', id);
  };
  const givenUp = database.write(async (sql) => {
    asked.push(insert(sql, 'x', 'y'));
    await insert(sql, 'z');
    throw new Error('the process changed its mind');
  });
  await expect(givenUp).rejects.toThrow('the process changed its mind');
  await expect(Promise.all(asked)).rejects.toThrow('the transaction has ended');
  for (const id of ['x', 'y', 'z']) {
    expect(await database.read((sql) => sql.all(COUNT, 'given up', id))).toEqual([]);
  }
});

test('reads of one turn are one message, and a read that fails does not affect the other reads', async () => {
  await using database = open({ connections: 1 });
  const over = (divisor: number) =>
    database.read((sql) => sql.all('SELECT now()::text, 1 / CAST(? AS integer)', divisor));
  const [first, second] = await Promise.all([over(1), over(1)]);
  expect(second).toEqual(first);
  const all = await Promise.allSettled([over(1), over(0), over(1), over(0), over(1)]);
  expect(all.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
  expect(all[1]).toMatchObject({ reason: { name: 'StoreUnavailable', refused: true } });
});

test('a read or a write that takes too long is refused, and no other read or write with it', async () => {
  await using database = open({ connections: 4, deadline: 1_000 });
  await using other = open({ connections: 1 });
  const pids = (sql: Sql) => sql.all('SELECT pg_backend_pid()');
  const slow = database.read((sql) => sql.all('SELECT pg_sleep(30)'));
  const beside = Array.from({ length: 5 }, () => database.read((sql) => sql.all('SELECT 1')));
  await expect(slow).rejects.toMatchObject({ name: 'StoreUnavailable', refused: true });
  expect(await Promise.all(beside)).toEqual(Array.from({ length: 5 }, () => [[1]]));
  await other.write((sql) => sql.run(INSERT, 'held', 'x'));
  await other.write(async (holding) => {
    await holding.run(RAISE, 'held', 'x');
    const before = await database.read(pids);
    const late = database.write((sql) => sql.last.run(RAISE, 'held', 'x'));
    await expect(late).rejects.toMatchObject({ name: 'StoreUnavailable', refused: true });
    expect(await database.read(pids)).toEqual(before);
  });
  expect(await database.read((sql) => sql.all(COUNT, 'held', 'x'))).toEqual([[1]]);
});

test.each([
  ['in one message', (sql: Transaction) => sql.later(INSERT, 'messages', 'x')],
  ['in two', (sql: Transaction) => sql.run(INSERT, 'messages', 'x')],
] as const)(
  'statements %s with the last one: if one fails, all are rolled back, and the connection stays usable with its prepared statements',
  async (_, first) => {
    await using database = open({ connections: 1 });
    const pid = (sql: Sql) => sql.all('SELECT pg_backend_pid()');
    const before = await database.read(pid);
    const twice = database.write(async (sql) => {
      await first(sql);
      await sql.last.run(INSERT, 'messages', 'x');
    });
    await expect(twice).rejects.toMatchObject({ refused: true });
    expect(await database.read(pid)).toEqual(before);
    expect(await database.read((sql) => sql.all(COUNT, 'messages', 'x'))).toEqual([]);
    await database.write(async (sql) => {
      await first(sql);
      await sql.last.run(INSERT, 'messages', 'y');
    });
    await database.write((sql) => sql.last.run(RAISE, 'messages', 'x'));
    expect(await database.read((sql) => sql.all(COUNT, 'messages', 'x'))).toEqual([[1]]);
    await primary.sql(`DELETE FROM countersign.generation WHERE kind = 'messages'`);
  },
);

test('`later`: a statement runs together with the next one, and is rolled back if the commit fails', async () => {
  await using database = open();
  await database.write((sql) => sql.later(INSERT, 'later', 'x'));
  const failing = database.write(async (sql) => {
    for (const id of ['y', 'x']) await sql.later(INSERT, 'later', id);
  });
  await expect(failing).rejects.toMatchObject({ refused: true });
  const many = Array.from({ length: 250 }, (_, n) => `many ${n}`);
  await database.write(async (sql) => {
    for (const id of many) await sql.later(INSERT, 'later', id);
  });
  const count = `SELECT count(*) FROM generation WHERE kind = 'later'`;
  expect(await database.read((sql) => sql.all(count))).toEqual([[1 + many.length]]);
});

test('together: some parts run no statement, and some parts run their statements at the end', async () => {
  await using database = open();
  await database.together(async (held) => {
    await held.write(() => {});
    for (const id of ['x', 'y']) await held.write((sql) => sql.later(INSERT, 'parts', id));
  });
  await database.together((held) => held.write(() => {}));
  expect(await database.read((sql) => sql.all(COUNT, 'parts', 'y'))).toEqual([[0]]);
});

test('a write and a snapshot refuse statements after their last one', async () => {
  await using database = open();
  const more = async (sql: Snapshot) => {
    await sql.last.all('SELECT 1');
    await sql.all('SELECT 2');
  };
  await expect(database.write(more)).rejects.toThrow('the transaction has ended');
  await expect(database.snapshot(more)).rejects.toThrow('the transaction has ended');
});

test('a list of values is stored and read unchanged', async () => {
  await using database = open();
  for (const list of [[], [''], ['a"b\\', '{},', 'NULL', ' é\n']]) {
    const text = JSON.stringify(list);
    const found = await database.read((sql) => sql.all('SELECT value FROM EACH(?) AS it', text));
    expect(found.flat()).toEqual(list);
  }
});

test.each(['\0', 'a\0b', '\u0001', '\u00010', '\u00011\0', 'a'])(
  'text with %j is stored and read unchanged, also in a list',
  async (id) => {
    await using database = open();
    await database.write((sql) => sql.run(INSERT, 'odd', id));
    const found = await database.read((sql) =>
      sql.all(
        'SELECT id FROM generation WHERE kind = ? AND id IN EACH(?)',
        'odd',
        JSON.stringify([id]),
      ),
    );
    expect(found).toEqual([[id]]);
  },
);

test('a follower that reads by number misses no row while four processes write, some of them slowly', async () => {
  await using all = new AsyncDisposableStack();
  const processes = Array.from({ length: 4 }, () => all.use(open()));
  await using database = open();
  const WRITERS = 8;
  const EACH = 25;
  const heard: string[] = [];
  let last = 0;
  let isDone = false;
  const follow = async () => {
    for (;;) {
      const wasDone = isDone;
      const rows = await database.read((sql) =>
        sql.all<[number, string]>(
          'SELECT seq, id FROM revocation WHERE seq > ? ORDER BY seq',
          last,
        ),
      );
      for (const [seq, id] of rows) {
        heard.push(id);
        last = seq;
      }
      if (wasDone) return;
    }
  };
  const following = follow();
  const write = async (writer: number) => {
    const own = processes[writer % processes.length] ?? database;
    for (let n = 0; n < EACH; n += 1) {
      const id = `${writer} ${n}`;
      await own.write(async (sql) => {
        await sql.run(
          `INSERT INTO revocation (kind, id, generation, until) VALUES ('token', ?, NULL, 1)`,
          id,
        );
        if ((writer + n) % 4 === 0) await sleep(5);
      });
      // The write was acknowledged, so a later query must find its row.
      const [row] = await database.read((sql) =>
        sql.all('SELECT seq FROM revocation WHERE id = ?', id),
      );
      expect(row?.[0]).toEqual(expect.any(Number));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  isDone = true;
  await following;
  expect(heard).toHaveLength(WRITERS * EACH);
  expect(new Set(heard).size).toBe(WRITERS * EACH);
});

test('a row that gets no number is committed once and not acknowledged, and the next write gives it a number', async () => {
  await using database = open({ connections: 2 });
  const add = (id: string) =>
    database.write((sql) =>
      sql.run(
        `INSERT INTO revocation (kind, id, generation, until) VALUES ('token', ?, NULL, 1)`,
        id,
      ),
    );
  await primary.sql(`
    CREATE FUNCTION countersign.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE deadlock_detected; END $$;
    CREATE TRIGGER refusing BEFORE UPDATE ON countersign.revocation
      FOR EACH ROW EXECUTE FUNCTION countersign.refuse()`);
  await expect(add('untold')).rejects.toMatchObject({ name: 'StoreUnavailable', refused: false });
  await primary.sql('DROP TRIGGER refusing ON countersign.revocation');
  await add('next');
  const rows = await database.read((sql) =>
    sql.all<[string, number]>(
      `SELECT id, seq FROM revocation WHERE id IN ('untold', 'next') ORDER BY seq`,
    ),
  );
  expect(rows.map(([id]) => id)).toEqual(['untold', 'next']);
});

const HOW = {
  'of a message of its own': (sql: Sql, id: string) => sql.run(INSERT, 'doubt', id),
  'in the message of all statements': ({ last }: Transaction, id: string) =>
    last.run(INSERT, 'doubt', id),
};

test.each(
  ['pg_cancel_backend', 'pg_terminate_backend'].flatMap((end) =>
    (Object.keys(HOW) as (keyof typeof HOW)[]).map((how) => [how, end] as const),
  ),
)(
  'a commit %s whose wait for a standby is ended by %s has an unknown outcome and is not repeated',
  async (how, end) => {
    await using database = open();
    await primary.sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
    await primary.sql('SELECT pg_reload_conf()');
    let [runs, writes] = [0, 0];
    // A write that is done did not wait: PostgreSQL reads the new setting some time after the reload.
    const write = async (): Promise<unknown> => {
      [runs, writes] = [0, writes + 1];
      const id = `${how} ${end} ${writes}`;
      const writing = database.write((sql) => {
        runs += 1;
        return HOW[how](sql, id);
      });
      return writing.then(write, (error: unknown) => error);
    };
    const outcome = write();
    const waiting = `FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    await until(async () => (await primary.sql(`SELECT count(*) ${waiting}`)) === '1');
    await primary.sql(`SELECT ${end}(pid) ${waiting}`);
    expect(await outcome).toMatchObject({
      name: 'StoreUnavailable',
      refused: false,
      message: expect.stringContaining('the commit is in doubt'),
    });
    expect(runs).toBe(1);
    await primary.sql('ALTER SYSTEM RESET synchronous_standby_names');
    await primary.sql('SELECT pg_reload_conf()');
  },
);

test('a PostgreSQL that hangs makes answers 503 within the deadline; afterwards it is used again', async () => {
  await using database = open({ deadline: 1_000 });
  await database.ping('all');
  await primary.hang();
  await expect(database.ping('all')).rejects.toThrow(StoreUnavailable);
  await primary.wake();
  await until(() =>
    database.ping('all').then(
      () => true,
      () => false,
    ),
  );
});

test('many connections that look for the primary at the same time all find it', async () => {
  for (let n = 0; n < 5; n += 1) {
    await using database = open({ urls: [standby.url, primary.url], connections: 40 });
    const reads = Array.from({ length: 30 }, async (_, k) => {
      await sleep(k);
      return database.write((sql) => sql.all('SELECT 1'));
    });
    expect(await Promise.all(reads)).toEqual(reads.map(() => [[1]]));
  }
});

test('no statement goes to a standby until it becomes the primary', async () => {
  await using database = open({ urls: [standby.url, primary.url], deadline: 2_000 });
  await database.write((sql) => sql.run(INSERT, 'failover', 'before'));
  await using alone = open({ urls: [standby.url], deadline: 2_000 });
  await expect(alone.read((sql) => sql.all('SELECT 1'))).rejects.toThrow('standby');
  const there = `SELECT count(*) FROM countersign.generation WHERE kind = 'failover'`;
  await until(async () => (await standby.sql(there)) === '1');
  await primary.kill();
  await standby.promote();
  await until(() =>
    database
      .write((sql) => sql.run(INSERT, 'failover', 'after'))
      .then(
        () => true,
        () => false,
      ),
  );
  const rows = await database.read((sql) =>
    sql.all('SELECT id FROM generation WHERE kind = ? ORDER BY id', 'failover'),
  );
  expect(rows).toEqual([['after'], ['before']]);
});
