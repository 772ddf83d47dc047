/** @needs psql */
/**
 * Tokens, links and proofs that a restore must invalidate, on PostgreSQL with a Redis that is not restored,
 * and without Redis.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import { type HttpRequest, run } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { type Pair, startPair } from '../pair/pair.ts';
import { type Postgres, startPostgres } from '../parts/postgres.ts';
import { until } from '../parts/process.ts';
import { startRedis } from '../parts/redis.ts';

const exec = promisify(execFile);

const servers = ({ authz, resources }: Pair) => [...authz, ...resources];

/** Dumps the database; returns a function that restores it, as an operator does. */
async function dump(postgres: Postgres, file: string) {
  const { url } = postgres;
  await exec('pg_dump', ['--schema', 'countersign', '--file', file, url]);
  return async () => {
    await postgres.sql('DROP SCHEMA countersign CASCADE');
    await exec('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', file, url]);
  };
}

interface Held {
  readonly token: string;
  readonly link: string;
  readonly request: HttpRequest;
}

/** A holder of credentials that tries each of them. */
async function holder(pair: Pair) {
  const client = await pair.addClient();
  const { name, password } = await pair.addPerson('alice');
  await pair.addPerson('bob');
  const { hostname, port } = new URL(pair.resource);
  const send = overHttp({ host: hostname, port: Number(port) });
  const digest = digestClient({ username: name, password });

  /** An admitted request. A repetition is a replay. */
  async function proved(): Promise<HttpRequest> {
    let last = get('');
    const answer = await run(digest.exchange(get('/schemes/digest/')), async (request) => {
      last = request;
      return send(request);
    });
    expect(answer.status).toBe(200);
    return last;
  }

  return {
    async take(): Promise<Held> {
      const { link } = await pair.cli('user', 'recover', 'bob');
      return {
        token: await pair.token(client),
        link: String(link),
        request: await proved(),
      };
    },
    async opens({ token, link, request }: Held) {
      const { status: replay } = await send(request);
      return { token: await pair.get(token), link: (await fetch(link)).status, replay };
    },
    async worksAnew() {
      expect(await pair.get(await pair.token(client))).toBe(200);
      await proved();
      const { link } = await pair.cli('user', 'recover', 'bob');
      expect((await fetch(String(link))).status).toBe(200);
    },
  };
}
const NOTHING = { token: 401, link: 404, replay: 401 };

/** Restores and restarts. Proofs get 503 until the server's clock is surely past the restore. */
async function restore(pair: Pair, ...args: readonly string[]) {
  await pair.cli('restore', ...args);
  const done = Date.now();
  for (const server of servers(pair)) await server.start();
  await until(() => Date.now() > done + 1000);
}

describe.each(['alone', 'with Redis'])('PostgreSQL %s', (kind) => {
  test('after `restore`, and after PostgreSQL was restored, no earlier credential is accepted', async () => {
    await using parts = new AsyncDisposableStack();
    const postgres = parts.use(await startPostgres());
    const redis = kind === 'alone' ? undefined : parts.use(await startRedis());
    const store = postgresStore([postgres.url], redis && { redis: redisBeside([redis.url]) });
    const pair = parts.use(await startPair({ store, settings: { tokens: { skew: 0 } } }));
    const held = await holder(pair);

    const early = await held.take();
    expect(await held.opens(early)).toEqual({ token: 200, link: 200, replay: 401 });
    const backup = join(pair.data, 'backup');
    await pair.cli('backup', backup);
    const late = await held.take();
    for (const server of servers(pair)) await server.kill('SIGTERM');
    await restore(pair, backup, '--replace');
    for (const all of [early, late]) expect(await held.opens(all)).toEqual(NOTHING);
    await held.worksAnew();

    const before = await held.take();
    const putBack = await dump(postgres, join(pair.data, 'dump.sql'));
    const since = await held.take();
    await pair.cli('user', 'end', 'alice');
    for (const server of servers(pair)) await server.kill('SIGTERM');
    await putBack();
    if (kind === 'with Redis') {
      await expect(pair.authz[0]?.start()).rejects.toThrow('countersign restore --database');
    }
    await restore(pair, '--database');
    for (const all of [before, since]) expect(await held.opens(all)).toEqual(NOTHING);
    await held.worksAnew();
  });
});
