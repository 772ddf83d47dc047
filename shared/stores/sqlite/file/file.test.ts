/** @slow */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { onceFor } from '../../contract/samples.ts';
import { startRacer } from '../../contract/racing/start-racer.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';
import { SqliteFile } from './file.ts';
import { STATE, TRANSIENT } from '../schema/state.ts';
import type { Statements } from './held.ts';
import { type Schema } from './schema.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

let store: SqliteUnderTest;
beforeEach(async () => {
  store = await sqliteUnderTest();
});
afterEach(() => store.end());

const schema = (...migrations: string[]): Schema => ({
  file: 'some.db',
  synchronous: 'FULL',
  reserveFor: 'removals',
  migrations,
  expired: {},
});
const inSome = () => join(store.folder, 'some.db');
const rawly = (path: string, sql: string) => {
  using database = new DatabaseSync(path);
  return database.prepare(sql).get();
};

describe('files', () => {
  test('only the owner can read the folder and its files', async () => {
    await using stores = await store.open();
    await stores.ping();
    await stores.replay.unique('a', 'b', 1);
    const folder = store.spec().data;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of [STATE.file, TRANSIENT.file].flatMap((f) => [f, `${f}-wal`, `${f}-shm`])) {
      expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
  });

  test('an existing folder keeps its mode', async () => {
    mkdirSync(store.spec().data);
    chmodSync(store.spec().data, 0o750);
    await using stores = await store.open();
    await stores.ping();
    expect(statSync(store.spec().data).mode & 0o777).toBe(0o750);
  });

  test('the readiness check writes to each file, and changes no row', async () => {
    await using stores = await store.open();
    const version = rawly(store.statePath, 'PRAGMA user_version');
    for (const file of [STATE.file, TRANSIENT.file]) {
      using other = new DatabaseSync(join(store.spec().data, file));
      const writes = () => other.prepare('PRAGMA data_version').get()?.['data_version'];
      const before = writes();
      await stores.ping();
      expect(writes()).not.toBe(before);
    }
    expect(rawly(store.statePath, 'PRAGMA user_version')).toEqual(version);
  });

  test('a damaged file is not ready, even if it is not read, until another file replaces it', async () => {
    const path = inSome();
    const lines: string[] = [];
    const note = (event: string) => void lines.push(event);
    const log = { info: note, warn: note, error: note };
    const [good, bad] = [`${path}-good`, `${path}-bad`];
    {
      await using file = new SqliteFile(path, schema('CREATE TABLE a (x)'), store.clock);
      await file.write((c) => c.run(`INSERT INTO a VALUES ('x')`));
    }
    const pages = readFileSync(path);
    writeFileSync(good, pages);
    writeFileSync(bad, pages.fill(0xff, 4096));
    renameSync(bad, path);
    await using file = new SqliteFile(path, schema('CREATE TABLE a (x)'), store.clock, log);
    const look = () => file.read((c) => c.all('SELECT x FROM a'));
    await file.ping('reading');
    file.check('all');
    await expect(look()).rejects.toThrow('malformed');
    store.clock.advance(60);
    await file.ping('reading');
    expect(() => file.check('reading')).toThrow('malformed');
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    renameSync(good, path);
    await turn();
    expect(await look()).toEqual([['x']]);
    file.check('reading');
    expect(lines).toEqual(['store.failing', 'store.working']);
  });

  test('the file of revocations and people is synchronised to disk at each commit', async () => {
    await using file = new SqliteFile(inSome(), schema('CREATE TABLE a (x)'), store.clock);
    expect(await file.read((c) => c.all('PRAGMA synchronous'))).toEqual([[2]]);
    expect(await file.read((c) => c.all('PRAGMA journal_mode'))).toEqual([['wal']]);
    expect(STATE.synchronous).toBe('FULL');
  });

  test('keys of single use cannot be read from the file', async () => {
    {
      await using stores = await store.open();
      await stores.replay.unique('dpop', 'a-secret-jti', 60);
      await stores.limits.spend('sign-in-name', 'a-secret-address', { burst: 1, per: 60 });
      await stores.useCounts.use('digest', 'a-secret-nonce', 1, onceFor(60));
    }
    const content = readFileSync(join(store.spec().data, TRANSIENT.file), 'latin1');
    expect(content).not.toContain('a-secret');
  });

  test('RFC 9577 section 2.2: of a spent token the file has only a digest and an expiry, in no order of time', async () => {
    const tokens = Array.from({ length: 50 }, () => systemRandom(66));
    const until = store.clock.now() + 600_000;
    {
      await using stores = await store.open();
      for (const token of tokens) await stores.spentTokens.spend(token, until);
    }
    const content = readFileSync(store.statePath);
    for (const token of tokens) {
      for (const part of [token, token.subarray(2, 34)]) expect(content.includes(part)).toBe(false);
    }
    using database = new DatabaseSync(store.statePath);
    const rows = database.prepare('SELECT * FROM spent_token').all();
    const digests = tokens.map((token) => createHash('sha256').update(token).digest('hex'));
    expect(rows).toEqual(
      digests
        .toSorted()
        .map((digest) => ({ digest: new Uint8Array(Buffer.from(digest, 'hex')), until })),
    );
    expect(() => database.prepare('SELECT rowid FROM spent_token')).toThrow('no such column');
  });

  test('a file that is no database is refused and not changed', async () => {
    mkdirSync(store.spec().data);
    writeFileSync(store.statePath, 'this is a letter, not a database'.repeat(100));
    await expect(store.open()).rejects.toThrow(StoreUnavailable);
    expect(readFileSync(store.statePath, 'utf8')).toMatch(/^this is a letter/);
  });

  test('a torn page is StoreUnavailable, never an absent row', async () => {
    {
      await using stores = await store.open();
      for (let n = 0; n < 200; n++) {
        const payload = { text: 'x'.repeat(500) };
        await stores.artefacts.put({ kind: 'Grant', id: `g${n}`, payload });
      }
    }
    // The pages that are read when the file is opened.
    const opening = new Set<unknown>();
    {
      using database = new DatabaseSync(store.statePath);
      const pages = database.prepare('SELECT pageno FROM dbstat WHERE name IN (?, ?)');
      for (const { pageno } of pages.all('sqlite_schema', 'tally')) opening.add(pageno);
    }
    const bytes = readFileSync(store.statePath);
    for (let page = 1; page * 4_096 <= bytes.length; page++) {
      if (!opening.has(page)) bytes.fill(0xff, (page - 1) * 4_096, page * 4_096);
    }
    writeFileSync(store.statePath, bytes);
    await using stores = await store.open();
    await expect(stores.artefacts.get('Grant', 'g1')).rejects.toThrow(StoreUnavailable);
    await expect(stores.artefacts.consume('Grant', 'g1')).rejects.toThrow(StoreUnavailable);
    await expect(stores.revocations.generation('person', 'x')).rejects.toThrow(StoreUnavailable);
  });

  test('if another process keeps a lock, writes fail as a whole with StoreUnavailable; the writes of a turn wait for the lock together', async () => {
    await using stores = await store.open();
    using other = new DatabaseSync(store.statePath);
    other.exec('BEGIN IMMEDIATE');
    const raise = () => stores.revocations.raise('person', 'x', 1);
    const waiting = Array.from({ length: 10 }, raise);
    await turn();
    store.clock.advance(2);
    const raising = await Promise.allSettled(waiting);
    for (const outcome of raising) {
      const reason = { message: expect.stringContaining('database is locked') };
      expect(outcome).toMatchObject({ status: 'rejected', reason });
    }
    other.exec('ROLLBACK');
    expect(await stores.revocations.generation('person', 'x')).toBe(0);
    expect(await raise()).toBe(1);
  });

  test('a write that fails in the middle changes no row', async () => {
    await using file = new SqliteFile(inSome(), schema('CREATE TABLE a (x)'), store.clock);
    const half = file.write((connection) => {
      connection.run('INSERT INTO a VALUES (1)');
      throw new Error('the process changed its mind');
    });
    await expect(half).rejects.toThrow(StoreUnavailable);
    expect(await file.read((c) => c.all('SELECT count(*) AS n FROM a'))).toEqual([[0]]);
    await file.write((connection) => connection.run('INSERT INTO a VALUES (2)'));
    expect(await file.read((c) => c.all('SELECT x FROM a'))).toEqual([[2]]);
  });

  test('a write is done even if the reserved room cannot be checked, such as without a free file descriptor', async () => {
    await using file = new SqliteFile(inSome(), schema('CREATE TABLE a (x)'), store.clock);
    const wal = `${inSome()}-wal`;
    renameSync(wal, `${wal}-away`);
    store.clock.advance(2);
    await file.write((connection) => connection.run('INSERT INTO a VALUES (1)'));
    renameSync(`${wal}-away`, wal);
    expect(await file.read((c) => c.all('SELECT x FROM a'))).toEqual([[1]]);
  });
});

describe('a transaction of several statements', () => {
  const open = () => new SqliteFile(inSome(), schema('CREATE TABLE a (x)'), store.clock);
  const count = (sql: Statements) => sql.all('SELECT count(*) FROM a').flat()[0];

  test('a read that arrives meanwhile waits for the end of the transaction, and sees no row that was rolled back', async () => {
    await using file = open();
    const seen: unknown[] = [];
    const half = file.write(async (sql) => {
      sql.run('INSERT INTO a VALUES (1)');
      await Promise.resolve();
      seen.push(count(sql), file.read(count));
      throw new Error('the process changed its mind');
    });
    await expect(half).rejects.toThrow(StoreUnavailable);
    expect(await Promise.all(seen)).toEqual([1, 0]);
  });

  test('a transaction that awaits anything but its statements fails, since other writes would wait for it', async () => {
    await using file = open();
    const waiting = file.write(async (sql) => {
      sql.run('INSERT INTO a VALUES (1)');
      await turn();
    });
    await expect(waiting).rejects.toThrow('awaits only its own statements');
    expect(await file.read(count)).toBe(0);
  });

  test('a statement after the end of the transaction is refused, since it would be a new transaction', async () => {
    await using file = open();
    const held = await file.write((sql) => sql);
    expect(() => held.run('INSERT INTO a VALUES (1)')).toThrow('the transaction has ended');
    expect(() => held.all('SELECT 1')).toThrow('the transaction has ended');
    expect(await file.read(count)).toBe(0);
  });
});

describe('migrations', () => {
  test('only missing migrations are applied, in order', async () => {
    const [first, second] = ['CREATE TABLE a (x)', 'ALTER TABLE a ADD COLUMN y DEFAULT 7'];
    {
      await using file = new SqliteFile(inSome(), schema(first), store.clock);
      await file.write((connection) => connection.run('INSERT INTO a VALUES (1)'));
    }
    await using file = new SqliteFile(inSome(), schema(first, second), store.clock);
    expect(await file.read((c) => c.all('SELECT * FROM a'))).toEqual([[1, 7]]);
    expect(rawly(inSome(), 'PRAGMA user_version')).toEqual({ user_version: 2 });
  });

  test('a migration that fails leaves the file at its version', async () => {
    const first = 'CREATE TABLE a (x)';
    await new SqliteFile(inSome(), schema(first), store.clock)[Symbol.asyncDispose]();
    const broken = schema(first, 'CREATE TABLE b (x)', 'CREATE TABLE a (x)');
    expect(() => new SqliteFile(inSome(), broken, store.clock)).toThrow('table a already exists');
    expect(rawly(inSome(), 'PRAGMA user_version')).toEqual({ user_version: 1 });
    expect(rawly(inSome(), "SELECT 1 FROM sqlite_schema WHERE name = 'b'")).toBeUndefined();
  });

  test('listing by account uses an index', async () => {
    await using stores = await store.open();
    await stores.ping();
    const plan = rawly(
      store.statePath,
      `EXPLAIN QUERY PLAN SELECT payload FROM artefact WHERE kind = 'SignIn' AND account_id = 'a'`,
    );
    expect(plan).toMatchObject({ detail: expect.stringContaining('artefact_account ') });
  });

  test('listing the grants of a client uses an index', async () => {
    await using stores = await store.open();
    await stores.ping();
    const end = 'coalesce(expires, 9007199254740991)';
    const plan = rawly(
      store.statePath,
      `EXPLAIN QUERY PLAN SELECT payload FROM artefact
       WHERE kind IN ('Access', 'Consent') AND kind = 'Access' AND client_id = 'a'
         AND ${end} > 1 AND ${end} <= 9 AND (${end}, id) < (9, 'x')
       ORDER BY ${end} DESC, id DESC LIMIT 1`,
    );
    const range = 'artefact_client (kind=? AND client_id=? AND <expr>>? AND <expr><?)';
    expect(plan).toMatchObject({ detail: expect.stringContaining(range) });
  });

  test('a client is found by its key through an index', async () => {
    await using stores = await store.open();
    await stores.ping();
    const plan = rawly(
      store.statePath,
      `EXPLAIN QUERY PLAN
       SELECT record FROM client_search_key JOIN client USING (client_id) WHERE key = 'a' ORDER BY client_id`,
    );
    expect(plan).toMatchObject({ detail: 'SEARCH client_search_key USING PRIMARY KEY (key=?)' });
  });

  test('a file from before version 1 is refused and not changed, and the error says what to do', async () => {
    await (await store.open())[Symbol.asyncDispose]();
    for (const version of [1, 35]) {
      rawly(store.statePath, 'PRAGMA application_id = 0');
      rawly(store.statePath, `PRAGMA user_version = ${version}`);
      const before = readFileSync(store.statePath);
      const opening = store.open();
      await expect(opening).rejects.toThrow(StoreUnavailable);
      await expect(opening).rejects.toThrow(
        /^state\.db was made by a build of before version 1\. .*directory export.*1 in place of 6.*directory import/,
      );
      expect(readFileSync(store.statePath)).toEqual(before);
    }
  });

  test('a file of a newer release is refused and not changed, and the error has both versions', async () => {
    await (await store.open())[Symbol.asyncDispose]();
    rawly(store.statePath, 'PRAGMA user_version = 99');
    rawly(store.statePath, 'UPDATE schema SET oldest = 99 RETURNING 1');
    const before = readFileSync(store.statePath);
    const opening = store.open();
    await expect(opening).rejects.toThrow(StoreUnavailable);
    await expect(opening).rejects.toThrow(
      `state.db has schema version 99, made by a newer release; this one knows versions up to ${STATE.migrations.length}`,
    );
    expect(readFileSync(store.statePath)).toEqual(before);
  });

  test('a file of a newer release is opened and not changed, if the newer schema works with this release', async () => {
    const [one, two] = ['CREATE TABLE a (x)', 'CREATE TABLE b (x)'];
    const versions = () => [
      rawly(inSome(), 'PRAGMA user_version'),
      rawly(inSome(), 'SELECT * FROM schema'),
    ];
    const open = (of: Schema) => new SqliteFile(inSome(), of, store.clock);
    await open(schema(one))[Symbol.asyncDispose]();
    expect(versions()).toEqual([{ user_version: 1 }, { one: 1, version: 1, oldest: 1 }]);
    await open({ ...schema(one, two), oldest: 1 })[Symbol.asyncDispose]();
    const newer = [{ user_version: 2 }, { one: 1, version: 2, oldest: 1 }];
    expect(versions()).toEqual(newer);
    {
      await using older = open(schema(one));
      await older.write((connection) => connection.run('INSERT INTO a VALUES (1)'));
    }
    expect(versions()).toEqual(newer);
    await open({ ...schema(one, two, 'CREATE TABLE c (x)'), oldest: 2 })[Symbol.asyncDispose]();
    expect(() => open(schema(one))).toThrow(
      'this one knows versions up to 1, and the file needs 2. Start the newer release',
    );
    await open(schema(one, two))[Symbol.asyncDispose]();
    expect(versions()).toEqual([{ user_version: 3 }, { one: 1, version: 3, oldest: 2 }]);
  });

  test('the readiness check of an older process does not lower the version of the file', async () => {
    await (await store.open())[Symbol.asyncDispose]();
    rawly(store.statePath, 'PRAGMA user_version = 99');
    rawly(store.statePath, 'UPDATE schema SET version = 99 RETURNING 1');
    await using stores = await store.open();
    await stores.ping();
    expect(rawly(store.statePath, 'PRAGMA user_version')).toEqual({ user_version: 99 });
  });

  test('four processes that start at the same time without a store all get a ready store', async () => {
    for (let round = 0; round < 3; round++) {
      const spec = { ...store.spec(), data: join(store.folder, `race${round}`) };
      const racers = await Promise.all(Array.from({ length: 4 }, () => startRacer(spec)));
      const given = await Promise.all(
        racers.map((racer) => racer.carryOut({ raise: 'alice', attempts: 5, at: 0 })),
      );
      expect(
        given
          .flat()
          .map(Number)
          .toSorted((a, b) => a - b),
      ).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      for (const racer of racers) await racer[Symbol.asyncDispose]();
    }
  });
});
