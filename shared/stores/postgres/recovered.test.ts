/** @needs psql */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { startRelay } from '../../../e2e/parts/relay.ts';
import { memoryFolder, type TemporaryFolder } from '../../../e2e/parts/temporary-folder.ts';
import { somePerson } from '../contract/samples.ts';
import { redisConfig } from '../redis/under-test.ts';
import type { PostgresSettings } from '../settings.ts';
import { alone, OpenElsewhere } from './alone.ts';
import { openPostgres } from './open.ts';
import { endAllIssued } from './recovered.ts';

const run = promisify(execFile);
const FAR = Date.now() + 3_600_000;
const COMMAND = '`countersign restore --database`';

let postgres: Postgres;
let folder: TemporaryFolder;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = await memoryFolder();
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const settingsFor = (schema: string): PostgresSettings => ({
  kind: 'postgres',
  urls: [postgres.url],
  schema,
  connections: 4,
  deadline: 5,
});
const open = (schema: string, log: Log = silentLog) =>
  openPostgres(settingsFor(schema), { clock: systemClock, random: systemRandom, log, skew: 5 });

/** Dumps the schema as it is now. Returns a function that restores it, as an operator does. */
async function dump(schema: string): Promise<() => Promise<void>> {
  const { stdout } = await run('pg_dump', ['--schema', schema, postgres.url], {
    maxBuffer: 2 ** 26,
  });
  const file = join(folder.path, `${schema}.sql`);
  await writeFile(file, stdout);
  return async () => {
    await postgres.sql(`DROP SCHEMA ${schema} CASCADE`);
    await run('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', file, postgres.url]);
  };
}

test('after a dump was restored, a process that knows newer rows trusts nothing and says why, until the restore command was run', async () => {
  const said: unknown[] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => void said.push(line) };
  const claims = { grant_id: 'g', sub: 's', client_id: 'c', sub_gen: 0, client_gen: 0, kid: 'k' };
  const before = await open('dumped', log);
  const epoch = await before.revocations.epoch(true);
  await before.people.add(somePerson('alice'), []);
  await before.revocations.revoke('token', 'early', FAR);
  for (const kind of ['Session', 'Interaction']) {
    await before.artefacts.put({ kind, id: 'ended', payload: {}, seconds: 600 });
  }
  const putBack = await dump('dumped');
  {
    await using feed = await before.revocations.feed();
    await before.revocations.revoke('token', 'late', FAR);
    for (const kind of ['Session', 'Interaction']) await before.artefacts.remove(kind, 'ended');
    expect(
      (await feed.latest()).revokedBy({ ...claims, jti: 'late', epoch } as RevocableClaims),
    ).toBe('token');
    await putBack();
    await until(async () => {
      try {
        await feed.latest();
        return false;
      } catch (error) {
        return String(error).includes(COMMAND);
      }
    });
    expect(() => feed.current()).toThrow();
    expect(feed.status().trusted).toBe(false);
    await expect(before.people.getByName('alice')).rejects.toThrow(COMMAND);
    await expect(before.ping('all')).rejects.toThrow(COMMAND);
    expect(() => before.check('all')).toThrow(COMMAND);
    expect(JSON.stringify(said)).toContain(COMMAND);
  }
  await expect(endAllIssued(settingsFor('dumped'))).rejects.toThrow(OpenElsewhere);
  await before[Symbol.asyncDispose]();

  await endAllIssued(settingsFor('dumped'));
  await using after = await open('dumped');
  expect(await after.people.getByName('alice')).toMatchObject({ name: 'alice' });
  for (const kind of ['Session', 'Interaction']) {
    expect(await after.artefacts.get(kind, 'ended')).toBeUndefined();
  }
  const next = await after.revocations.epoch(true);
  expect(next).not.toBe(epoch);
});

test.each([
  ['alone', 'forgotten'],
  ['with Redis, which was not restored', 'used'],
])(
  'PostgreSQL %s: after the restore command sessions have ended, and an older proof is %s',
  async (kind, use) => {
    const schema = kind === 'alone' ? 'alone' : 'beside';
    await using redis = kind === 'alone' ? undefined : await startRedis();
    const settings = {
      ...settingsFor(schema),
      ...(redis && { redis: redisConfig({ urls: [redis.url] }) }),
    };
    const opened = () =>
      openPostgres(settings, { clock: systemClock, random: systemRandom, log: silentLog, skew: 0 });
    const once = { made: Date.now(), seconds: 600 };
    let session = '';
    {
      await using before = await opened();
      await before.revocations.epoch(true);
      session = await before.sessions.put('value', 600);
      expect(await before.proofs.spend('dpop', 'jti', once)).toBe('first');
      expect(await before.useCounts.use('digest', 'nonce', 1, once)).toBe('first');
    }
    await endAllIssued(settings);
    await until(() => Date.now() > once.made + 2_000);
    await using after = await opened();
    expect(await after.sessions.get(session)).toBeUndefined();
    expect(await after.proofs.spend('dpop', 'jti', once)).toBe(use);
    expect(await after.useCounts.use('digest', 'nonce', 1, once)).toBe(use);
    const now = { made: Date.now(), seconds: 600 };
    expect(await after.proofs.spend('dpop', 'new', now)).toBe('first');
    expect(await after.useCounts.use('digest', 'new', 1, now)).toBe('first');
  },
);

test.each([
  ['behind', 3_600_000],
  ['ahead', -3_600_000],
])(
  'after a restore while the clock of PostgreSQL was %s, no older proof is accepted, and new proofs are accepted soon',
  async (kind, wrong) => {
    const schema = `clock_${kind}`;
    await (await open(schema))[Symbol.asyncDispose]();
    // An hour later than PostgreSQL, for the command and the server; or PostgreSQL was an hour ahead.
    const clock = {
      now: () => Date.now() + Math.max(0, wrong),
      monotonic: () => performance.now(),
    };
    const before = { made: clock.now(), seconds: 600 };
    await endAllIssued(settingsFor(schema), clock);
    if (wrong < 0) await postgres.sql(`UPDATE ${schema}.record SET restored = restored - ${wrong}`);
    await using after = await openPostgres(settingsFor(schema), {
      clock,
      random: systemRandom,
      log: silentLog,
      skew: 0,
    });
    const spent = () => after.proofs.spend('dpop', 'jti', before).catch(() => 'not known yet');
    await until(async () => (await spent()) === 'forgotten');
    const now = { made: clock.now(), seconds: 600 };
    expect(await after.proofs.spend('dpop', 'new', now)).toBe('first');
  },
);

test('after a standby without the last commits was promoted, a process that has read these commits trusts nothing', async () => {
  await using primary = await startPostgres();
  await using relay = await startRelay(primary.port);
  await using standby = await startPostgres({ standbyOf: primary, through: relay });
  await using stores = await openPostgres(
    { ...settingsFor('promoted'), urls: [primary.url, standby.url] },
    { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
  );
  await stores.revocations.epoch(true);
  await stores.revocations.revoke('token', 'early', FAR);
  await using feed = await stores.revocations.feed();
  const arrived = 'SELECT count(*) FROM promoted.revocation';
  await until(async () => (await standby.sql(arrived).catch(() => '')) === '1');
  relay.divide();
  await stores.revocations.revoke('token', 'late', FAR);
  await feed.latest();
  await primary.kill();
  await standby.promote();
  await until(async () => {
    try {
      await feed.latest();
      return false;
    } catch (error) {
      return String(error).includes(COMMAND);
    }
  });
  await expect(stores.ping('all')).rejects.toThrow(COMMAND);
});

test('while one connection has exclusive use of the store, no process can open it, and its uncommitted changes are lost if it ends', async () => {
  await (await open('held'))[Symbol.asyncDispose]();
  const settings = settingsFor('held');
  const done = alone(settings, async (client) => {
    await client.query('DELETE FROM schema');
    await expect(open('held')).rejects.toThrow('`countersign restore` is at work here');
    await expect(alone(settings, async () => {})).rejects.toThrow(OpenElsewhere);
    await postgres.sql(
      'SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = $$advisory$$',
    );
  });
  await expect(done).rejects.toThrow('in doubt');
  await using stores = await open('held');
  await stores.ping('all');
  expect(await postgres.sql('SELECT version FROM held.schema')).toBe('1');
});
