import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '../../../e2e/parts/temporary-folder.ts';
import { freePort } from '../../../e2e/parts/free-port.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Database } from '../sql/sql.ts';
import { checkServer } from './check-server.ts';
import { postgresStore } from './started.fixture.ts';
import { type Creates, openPostgres } from './open.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres({ password: 'tiger' });
});
afterAll(() => postgres[Symbol.asyncDispose]());

const open = (more: Partial<PostgresSettings> = {}, log: Log = silentLog) =>
  openPostgres(postgresStore([postgres.url], more), {
    clock: systemClock,
    skew: 5,
    random: systemRandom,
    log,
  });

test('a store opens at most the configured connections: two for feeds, and one that writes may not use', async () => {
  await using stores = await open({ connections: 5 });
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const writing = [0, 1, 2, 3, 4, 5].map(() =>
    stores.together(async ({ declared }) => {
      await declared.list();
      await over;
    }),
  );
  const held = `FROM pg_stat_activity WHERE application_name = 'countersign'`;
  while ((await postgres.sql(`SELECT count(*) ${held} AND state = 'idle in transaction'`)) !== '2');
  await Promise.all([feed.latest(), feed.latest(), stores.declared.list()]);
  expect(await postgres.sql(`SELECT count(*) <= 5 ${held}`)).toBe('t');
  end();
  await Promise.all(writing);
});

/** The URL of a server with these parts in place of its own. */
function urlWith(parts: Partial<Record<'username' | 'password' | 'pathname' | 'search', string>>) {
  const url = new URL(postgres.url);
  for (const part of Object.keys(parts) as (keyof typeof parts)[]) url[part] = parts[part] ?? '';
  return url.href;
}

test('each reason why a connection fails is logged with a sentence that says what to do', async () => {
  await postgres.sql(`
    CREATE ROLE poor LOGIN PASSWORD 'swordfish';
    CREATE ROLE single LOGIN PASSWORD 'swordfish' CONNECTION LIMIT 0;`);
  await postgres.sql('CREATE DATABASE ascii ENCODING SQL_ASCII TEMPLATE template0');
  const poor = { username: 'poor', password: 'swordfish' };
  const port = await freePort();
  const place = `127.0.0.1:${postgres.port}`;
  const found = async (...urls: string[]) =>
    open({ urls, schema: 'another' }).then(
      () => 'opened',
      (error: Error) => error.message,
    );
  const none = `postgres://poor@127.0.0.1:${port}/db`;
  const cases = [
    [none, `PostgreSQL at 127.0.0.1:${port} cannot be reached (ECONNREFUSED): start it,`],
    [
      urlWith({ ...poor, password: 'wrong' }),
      `PostgreSQL at ${place} refuses the password of user poor`,
    ],
    [
      urlWith({ ...poor, password: '' }),
      `PostgreSQL at ${place} asks for the password of user poor`,
    ],
    [
      urlWith({ pathname: '/none' }),
      `PostgreSQL at ${place} has no database none: make it with CREATE DATABASE none`,
    ],
    [
      urlWith({ ...poor, username: 'single' }),
      `PostgreSQL at ${place} has no connection left (too many connections for role "single")`,
    ],
    [
      urlWith(poor),
      'the user poor may not make the schema another in database postgres: GRANT CREATE',
    ],
    [urlWith({ pathname: '/ascii' }), 'the database ascii has the encoding SQL_ASCII'],
    [urlWith({ search: 'sslmode=require' }), `PostgreSQL at ${place} has no TLS: turn ssl on`],
  ] as const;
  for (const [url, words] of cases) {
    expect(await found(url)).toContain(words);
    expect(await found(url)).not.toMatch(/swordfish|wrong/);
  }
  const both = await found(none, urlWith({ pathname: '/none' }));
  expect(both).toMatch(/cannot be reached .*; PostgreSQL at .* has no database none/);
});

test('a server or command with a wrong schema name makes no second store', async () => {
  const inDatabase = (schema: string, creates?: Creates) =>
    openPostgres(postgresStore([urlWith({ pathname: '/typos' })], { schema }), {
      clock: systemClock,
      skew: 5,
      random: systemRandom,
      log: silentLog,
      creates,
    });
  await postgres.sql(`CREATE DATABASE typos`);
  await expect(inDatabase('right', false)).rejects.toThrow('only with --create');
  {
    // Servers that start at once.
    await using both = new AsyncDisposableStack();
    for (const one of await Promise.all([1, 2].map(() => inDatabase('right', 'first'))))
      both.use(one);
  }
  const words =
    'there is no store in the schema wrong of PostgreSQL (this database has stores in: right)';
  for (const creates of ['first', false] as const) {
    await expect(inDatabase('wrong', creates)).rejects.toThrow(words);
  }
  await using again = await inDatabase('right', 'first');
  await again.ping('all');
  await using second = await inDatabase('wrong', true);
  await second.ping('all');
  await using known = await inDatabase('wrong', 'first');
  await known.ping('all');
});

test('the error for a role that may not use the tables names their owner', async () => {
  await using _ = await open({ schema: 'owned' });
  await postgres.sql(`CREATE ROLE foreigner LOGIN PASSWORD 'swordfish'`);
  const urls = [urlWith({ username: 'foreigner', password: 'swordfish' })];
  const words = 'the tables in the schema owned belong to the user postgres, and foreigner may not';
  await expect(open({ urls, schema: 'owned' })).rejects.toThrow(words);
  await postgres.sql('GRANT ALL ON SCHEMA owned TO foreigner');
  await expect(open({ urls, schema: 'owned' })).rejects.toThrow(words);
  await postgres.sql('GRANT postgres TO foreigner');
  await using opened = await open({ urls, schema: 'owned' });
  await opened.ping('all');
});

test('a role that may not create schemas works in a schema that the operator made', async () => {
  await postgres.sql(`
    CREATE ROLE given LOGIN PASSWORD 'swordfish';
    CREATE SCHEMA given AUTHORIZATION given;`);
  const urls = [urlWith({ username: 'given', password: 'swordfish' })];
  await using stores = await open({ urls, schema: 'given' });
  await stores.ping('all');
});

test.each<[Readonly<Record<string, string>>, string]>([
  [{ version: '14.12' }, 'PostgreSQL 14.12 is too old: use version 15 or later'],
  [{ path: 'public' }, 'the connection has search_path public, not countersign: a pooler'],
])('a server with %j is refused', async ({ version = '15.0', path = 'countersign' }, words) => {
  const number = 10_000 * Number(version);
  const row = [number, version, 'UTF8', 'on', 'on', '', 97, 't', 't', 'db', 'me', path, null];
  const answering = { read: async () => [row] } as unknown as Database;
  await expect(checkServer(answering, postgresStore([]), silentLog)).rejects.toThrow(words);
});

/** Opens a store, and returns the events that it warned of. */
async function warned(more: Partial<PostgresSettings>): Promise<readonly string[]> {
  const events: string[] = [];
  const warn = (event: string) => void events.push(event);
  await using _ = await open(more, { ...silentLog, warn });
  return events;
}

test('a server warns at its start of settings that may lose acknowledged writes, and of too few connections', async () => {
  expect(await warned({})).toEqual([]);
  const most = Number(await postgres.sql('SHOW max_connections')) - 3;
  expect(await warned({ connections: Math.floor(most / 2) })).toEqual([]);
  expect(await warned({ connections: Math.floor(most / 2) + 1 })).toEqual(['postgres.connections']);
  expect(await warned({ urls: [postgres.url, postgres.url] })).toEqual(['postgres.standbys']);
  await postgres.sql('ALTER SYSTEM SET full_page_writes = off');
  await postgres.sql('SELECT pg_reload_conf()');
  await until(async () => (await postgres.sql('SHOW full_page_writes')) === 'off');
  expect(await warned({})).toEqual(['postgres.not-durable']);
});

test("with `ca` the server's certificate and host name are verified; without it, sslmode decides", async () => {
  await using folder = await temporaryFolder();
  const another = join(folder.path, 'another.pem');
  await writeFile(another, rootCertificates[0] ?? '');
  await using secure = await startPostgres({
    tls: true,
    settings: ["listen_addresses = 'localhost'"],
  });
  const ca = secure.certificate;
  const byName = secure.url.replace('127.0.0.1', 'localhost');
  const encrypted = async (url: string, more: Partial<PostgresSettings> = {}) => {
    try {
      await using stores = await open({ urls: [url], ...more });
      await stores.ping();
      return await secure.sql(
        `SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'countersign'`,
      );
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await encrypted(byName, { ca })).toBe('t');
  expect(await encrypted(secure.url, { ca })).toMatch(/a certificate for other names than 127/);
  expect(await encrypted(byName, { ca: another })).toMatch(/nobody trusts here/);
  expect(await encrypted(`${byName}?sslmode=require`)).toMatch(/nobody trusts here/);
  expect(await encrypted(`${byName}?sslmode=no-verify`)).toBe('t');
  expect(await encrypted(`${byName}?sslmode=disable`)).toBe('f');
  expect(await encrypted(byName)).toBe('f');
});
