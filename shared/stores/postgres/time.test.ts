import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { edit, puts, someDocument, someLock, someOutboxMessage } from '../contract/samples.ts';
import type { Stores } from '../stores.ts';
import { lockOf } from './access.ts';
import { openPostgres } from './open.ts';

const HOUR = 3_600_000;

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

let made = 0;
const newSchema = () => `time_${(made += 1)}`;
const open = (schema: string, clock: Clock = systemClock): Promise<Stores> =>
  openPostgres(
    { kind: 'postgres', urls: [postgres.url], schema, connections: 6, deadline: 10 },
    { clock, random: systemRandom, log: silentLog, skew: 5 },
  );

/** The clock of a process, which is wrong by some milliseconds. */
function wrongClock(wrong = 0) {
  const clock = { wrong, now: () => Date.now() + clock.wrong, monotonic: () => performance.now() };
  return clock;
}

test.each([HOUR, 60_000, -60_000, -HOUR])(
  'a process whose clock is wrong by %d ms, from its start or later: a proof is accepted once, and nothing that is still valid is lost',
  async (wrong) => {
    const schema = newSchema();
    await using right = await open(schema);
    const clock = wrongClock();
    await using jumped = await open(schema, clock);
    clock.wrong = wrong;
    await using started = await open(schema, wrongClock(wrong));
    const all = [right, jumped, started];
    const once = { made: Date.now(), seconds: 60 };
    const good = Date.now() + 600_000;
    await right.revocations.revoke('token', 'revoked', good);
    for (const [n, one] of all.entries()) {
      expect(await one.replay.unique('proof', `${n}`, 60)).toBe(true);
      expect(await one.useCounts.use('nonce', `${n}`, 1, once)).toBe('first');
    }
    const sessions = await Promise.all(all.map((one) => one.sessions.put('value', 60)));
    const interactions = all.map((_, n) => `of ${n}`);
    for (const [n, one] of all.entries()) {
      await one.artefacts.put({ kind: 'Interaction', id: `of ${n}`, payload: {}, seconds: 60 });
    }
    const token = Buffer.from('token');
    expect(await right.spentTokens.spend(token, good)).toBe(true);
    for (const one of all) expect(await one.sweep()).toBe(0);
    for (const one of all) {
      for (const n of all.keys()) {
        expect(await one.replay.unique('proof', `${n}`, 60)).toBe(false);
        expect(await one.useCounts.use('nonce', `${n}`, 1, once)).not.toBe('first');
      }
      for (const session of sessions) expect(await one.sessions.get(session)).toBe('value');
      for (const id of interactions) {
        expect(await one.artefacts.get('Interaction', id)).toBeDefined();
      }
    }
    expect(await right.spentTokens.spend(token, good)).toBe(false);
  },
);

test.each([HOUR, -HOUR])(
  'a process whose clock is wrong by %d ms: no other process sends the mail that it took, and new mail is due at once',
  async (wrong) => {
    const schema = newSchema();
    await using right = await open(schema);
    const clock = wrongClock(wrong);
    await using other = await open(schema, clock);
    const take = (one: Stores, now: number) => one.outbox.take(now, now + 300_000, 10);
    const message = { ...someOutboxMessage('of one'), created_at: Date.now() };
    await right.outbox.add(message);
    expect(await take(right, Date.now() + 1_000)).toHaveLength(1);
    expect(await take(other, clock.now())).toEqual([]);
    await other.outbox.add({ ...message, id: 'of the other', created_at: clock.now() });
    expect(await take(right, Date.now() + 1_000)).toMatchObject([{ id: 'of the other' }]);
    await other.outbox.postpone('of one', clock.now() + 600_000);
    expect(await take(right, Date.now() + 400_000)).toMatchObject([{ id: 'of the other' }]);
    expect(await take(right, Date.now() + 800_000)).toHaveLength(2);
  },
);

test.each([HOUR, -HOUR])(
  'a process whose clock is wrong by %d ms: locks last as long as usual, and a copy under way is not ended',
  async (wrong) => {
    const schema = newSchema();
    await using right = await open(schema);
    const clock = wrongClock(wrong);
    await using other = await open(schema, clock);
    const lock = someLock('a', { seconds: 600, expires: Date.now() + 600_000 });
    await edit(right, 'tree', [...puts(someDocument('a')), { kind: 'lock', lock }]);
    const leftFor = async (one: Stores, now: () => number) => {
      const [found] = (await one.trees.look('tree', [])).locks;
      return Math.round(((found?.expires ?? 0) - now()) / 60_000);
    };
    expect(await leftFor(right, Date.now)).toBe(10);
    expect(await leftFor(other, clock.now)).toBe(10);
    const again = { ...lock, expires: clock.now() + 1_200_000 };
    await edit(other, 'tree', [{ kind: 'lock', lock: again }]);
    expect(await leftFor(right, Date.now)).toBe(20);
    await postgres.sql(
      `INSERT INTO ${schema}.tree_copy (token, id, tree, source, bytes, properties, entries, until)
       VALUES ('copy', 1, 'tree', 1, 0, 0, 0, ${Date.now() + 60_000}), ('left', 1, 'tree', 1, 0, 0, 0, ${Date.now() - 60_000})`,
    );
    await other.trees.clear();
    expect(await postgres.sql(`SELECT token FROM ${schema}.tree_copy`)).toBe('copy');
  },
);

test.each([HOUR, -HOUR])(
  'a process whose clock is wrong by %d ms dates resources like the others, so that Last-Modified never goes back',
  async (wrong) => {
    const schema = newSchema();
    await using right = await open(schema);
    await using other = await open(schema, wrongClock(wrong));
    for (const { trees } of [right, other]) {
      expect(Math.abs(trees.clock.now() - Date.now())).toBeLessThan(HOUR / 2);
    }
  },
);

test('a limit that a process with a clock an hour ahead has used is not used up for the other processes', async () => {
  const schema = newSchema();
  await using right = await open(schema);
  await using ahead = await open(schema, wrongClock(HOUR));
  const rate = { burst: 10, per: 60 };
  for (const one of [ahead, right, ahead, right]) {
    expect(await one.limits.spend('client', 'name', rate)).toMatchObject({ ok: true });
  }
});

test('one process sweeps at a time, a dead process does not block the sweep, and locked rows are left for later', async () => {
  const schema = newSchema();
  await using stores = await open(schema);
  const count = () => postgres.sql(`SELECT count(*) FROM ${schema}.artefact`);
  await postgres.sql(
    `INSERT INTO ${schema}.artefact (kind, id, payload, expires)
     SELECT 'AccessToken', n, '{}', 1 FROM generate_series(1, 1000) AS n`,
  );
  const other = new Client(postgres.url);
  other.on('error', () => {});
  await other.connect();
  await other.query('BEGIN');
  await other.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockOf(schema, 'sweep')]);
  expect(await stores.sweep()).toBe(0);
  expect(await count()).toBe('1000');
  const working = new Client(postgres.url);
  await working.connect();
  await working.query('BEGIN');
  await working.query(`SELECT 1 FROM ${schema}.artefact WHERE id = '7' FOR UPDATE`);
  // The connection ends, as if the process was killed.
  await postgres.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%advisory_xact_lock%' AND pid <> pg_backend_pid()`,
  );
  await until(async () => (await stores.sweep()) > 0);
  await until(async () => (await stores.sweep(), await count()) === '1');
  await working.query('COMMIT');
  await working.end();
  expect(await stores.sweep()).toBe(1);
});

test('the oldest invalidations that have expired go first', async () => {
  const schema = newSchema();
  await using stores = await open(schema);
  await postgres.sql(
    `INSERT INTO ${schema}.invalidation (seq, space, kind, value, soft, at)
     SELECT 1001 - n, 's', 'tag', 'v', 0, CASE WHEN n > 100 THEN 1001 - n ELSE 9007199254740991 END
     FROM generate_series(1, 1000) AS n`,
  );
  await postgres.sql(`
    CREATE TABLE ${schema}.gone (place bigint GENERATED ALWAYS AS IDENTITY, seq bigint);
    CREATE FUNCTION ${schema}.note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO ${schema}.gone (seq) VALUES (OLD.seq); RETURN OLD; END $$;
    CREATE TRIGGER noting BEFORE DELETE ON ${schema}.invalidation
      FOR EACH ROW EXECUTE FUNCTION ${schema}.note()`);
  expect(await stores.sweep()).toBe(900);
  const early = `SELECT count(*) FROM ${schema}.gone WHERE (place <= 400) <> (seq <= 400)`;
  expect(await postgres.sql(early)).toBe('0');
});

test('a process does not close the audit log within a second after another process has closed it', async () => {
  const schema = newSchema();
  await using one = await open(schema);
  const clock = wrongClock();
  await using other = await open(schema, clock);
  expect(await other.audit.takeTurn()).toBe(true);
  await one.audit.append('{}');
  const { upTo } = await one.audit.open();
  const at = Date.now() + 60_000;
  const link = { number: 1, before: '', first: 1, last: 1, at, oldest: 1, mac: 'mac' };
  expect(await one.audit.close(link, [{ seq: 1, text: '{}', keys: [] }], upTo)).toBe(true);
  clock.wrong = 60_000;
  expect(await other.audit.takeTurn()).toBe(false);
  clock.wrong += 1_000;
  expect(await other.audit.takeTurn()).toBe(true);
  // An entry with the time of a fast clock does not stop other processes from closing the log.
  clock.wrong = 0;
  expect(await other.audit.takeTurn()).toBe(true);
});
