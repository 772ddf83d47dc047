import { once } from 'node:events';
import { mkdir, rename, rm } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { entryFile } from '../parts/entry.ts';
import type { Pair, ServerProcess } from '../pair/pair.ts';
import { startProcess, until } from '../parts/process.ts';
import {
  postgresStore,
  redisBeside,
  type SharedStore,
  startSharedStore,
} from '#shared/stores/postgres/started.fixture.ts';
import { startPostgres } from '../parts/postgres.ts';
import { startSentinels } from '../parts/redis-sentinel.ts';
import { administering } from './administering.ts';
import { Refused } from './failover-uses.ts';
import { getAll, startFlow } from './flow.ts';
import type { Client, Flow } from './flow.ts';

const FORM = { grant_type: 'client_credentials' };
/** Kills with requests during the outage. crash.test.ts kills more often, and checks after the restart. */
const KILLS = 2;

/** Returns a token that was used everywhere, and a revoked token. No fault may confuse the two. */
async function goodAndRevoked(pair: Pair, client: Client): Promise<[string, string]> {
  const [good, revoked] = [await pair.token(client), await pair.token(client)];
  expect(await getAll(pair, good)).toEqual([200, 200]);
  const { status } = await pair.post('/token/revocation', { token: revoked }, client);
  expect(status).toBe(200);
  expect(await getAll(pair, revoked)).toEqual([401, 401]);
  return [good, revoked];
}

/** Repeats requests with the revoked token until `done`. No answer is the resource. */
async function refusedUntil(
  pair: Pair,
  revoked: string,
  done: () => Promise<boolean>,
): Promise<void> {
  await until(async () => {
    for (const status of await getAll(pair, revoked)) expect([401, 503]).toContain(status);
    return done();
  });
}

const works = async (pair: Pair, client: Client) =>
  (await getAll(pair, await pair.token(client))).every((status) => status === 200);

const alive = async (servers: readonly ServerProcess[]) => {
  for (const { url } of servers) {
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
  }
};

/** Tests for every kind of store. */
function onAnyStore(flow: () => Flow): void {
  test('an authorization server that is killed between two steps keeps all acknowledged writes', async () => {
    const { pair } = flow();
    const [authz] = pair.authz;
    const client = await pair.addClient();
    await goodAndRevoked(pair, client);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const tokens = await Promise.all(Array.from({ length: 10 }, () => pair.token(client)));
      const acknowledged: string[] = [];
      const issued: string[] = [];
      const load = tokens.map(async (token) => {
        const { status } = await pair.post('/token/revocation', { token }, client);
        if (status === 200) acknowledged.push(token);
        issued.push(await pair.token(client));
      });
      const dead = new Promise((done) => setTimeout(done, Math.random() * 40)).then(() =>
        authz?.kill(),
      );
      await Promise.allSettled([...load, dead]);
      for (const token of acknowledged) expect(await getAll(pair, token)).toEqual([401, 401]);
      for (const token of issued) expect(await getAll(pair, token)).toEqual([200, 200]);
      for (const token of tokens) {
        const [first, second] = await getAll(pair, token);
        expect([200, 401]).toContain(first);
        expect(second).toBe(first);
      }
      await authz?.start();
    }
    expect(await works(pair, client)).toBe(true);
  });

  test('while the authorization server is down, tokens of known keys are accepted, and revoked tokens refused', async () => {
    const { pair, stores } = flow();
    const client = await pair.addClient();
    const [good, revoked] = await goodAndRevoked(pair, client);
    const unseen = await pair.token(client);
    await pair.authz[0]?.kill();
    expect(await getAll(pair, good)).toEqual([200, 200]);
    expect(await getAll(pair, unseen)).toEqual([200, 200]);
    expect(await getAll(pair, revoked)).toEqual([401, 401]);
    await stores.revocations.revoke('token', String(decodeJwt(good).jti), flow().until());
    await pair.cli('token', 'revoke', unseen);
    expect(await getAll(pair, good)).toEqual([401, 401]);
    expect(await getAll(pair, unseen)).toEqual([401, 401]);
    await pair.authz[0]?.start();
  });

  test('a resource server that starts without the authorization server answers 503, and works later without a restart', async () => {
    const { pair } = flow();
    const client = await pair.addClient();
    const [good, revoked] = await goodAndRevoked(pair, client);
    const [, late] = pair.resources;
    await pair.authz[0]?.kill();
    await late?.kill();
    await late?.start();
    expect(await pair.get(good, 1)).toBe(503);
    expect(await pair.get(revoked, 1)).toBe(503);
    expect(await getAll(pair, 'no.such.token')).toEqual([401, 401]);
    await pair.authz[0]?.start();
    await until(async () => (await pair.get(good, 1)) === 200);
    expect(await getAll(pair, revoked)).toEqual([401, 401]);
    expect(await works(pair, client)).toBe(true);
  });
}

/** All tests use one pair. Each test leaves only additional clients and tokens. */
describe('PostgreSQL with Redis', () => {
  let shared: SharedStore;
  let flow: Flow;
  beforeAll(async () => {
    shared = await startSharedStore({ deadline: 4 });
    flow = await startFlow({ store: shared.store, resource: 2 });
  });
  afterAll(async () => {
    await flow?.[Symbol.asyncDispose]();
    await shared?.[Symbol.asyncDispose]();
  });
  onAnyStore(() => flow);

  test.each(['postgres', 'redis'] as const)(
    'while %s hangs, both servers answer 503 with Retry-After and accept no revoked token, and afterwards work as before',
    async (hung) => {
      const { pair } = flow;
      const client = await pair.addClient();
      const [good, revoked] = await goodAndRevoked(pair, client);
      await shared[hung].hang();
      try {
        await refusedUntil(pair, revoked, async () =>
          (await getAll(pair, good)).every((status) => status === 503),
        );
        const headers = { authorization: `Bearer ${good}` };
        const asked = pair.resources.map(async ({ url }) => {
          const answer = await fetch(`${url}/documents/`, { headers });
          expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
          expect((await fetch(`${url}/health/ready`)).status).toBe(503);
        });
        const forms = {
          '': FORM,
          '/revocation': { token: good },
          '/introspection': { token: revoked },
        };
        const posted = Object.entries(forms).map(async ([path, form]) => {
          const answer = await pair.post(`/token${path}`, form, client);
          const repeats = answer.headers.has('retry-after');
          expect([path, answer.status, repeats]).toEqual([path, 503, true]);
        });
        await Promise.all([...asked, ...posted]);
      } finally {
        await shared[hung].wake();
      }
      // PostgreSQL may have committed the revocation that got 503, and then announces it later.
      await until(() => works(pair, client));
      expect(await getAll(pair, revoked)).toEqual([401, 401]);
      await alive([...pair.authz, ...pair.resources]);
    },
  );

  test('while PostgreSQL hangs, a collector of the audit log waits, and then gets all events since', async () => {
    const { pair } = flow;
    const before = await pair.addClient();
    const args = [entryFile('shared/cli/main.ts'), 'audit', 'follow', '--since', '1h', '--json'];
    await using collector = await startProcess(process.execPath, args, {
      env: pair.env,
      ready: (output) => output.includes(before.id),
    });
    await shared.postgres.hang();
    try {
      await until(() => collector.output.includes('goes on once it answers'));
    } finally {
      await shared.postgres.wake();
    }
    await until(() => works(pair, before));
    const after = await pair.addClient();
    await until(() => collector.output.includes(after.id));
    const seqs = [...collector.output.matchAll(/^\{"seq":(\d+)/gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n));
  });

  test('if Redis hangs during uploads, a finished upload gets 503, a running upload is broken off, and neither is stored', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const authorization = `Bearer ${await pair.token(client)}`;
    const [ends, goesOn] = ['/documents/hung-ends', '/documents/hung-goes-on'];
    const upload = async (path: string) => {
      const headers = { authorization, expect: '100-continue' };
      const request = http.request(pair.resource + path, { method: 'PUT', headers, agent: false });
      const answered = new Promise<number | undefined>((resolve) => {
        request.once('response', ({ statusCode }) => resolve(statusCode));
        request.once('close', () => resolve(undefined)).on('error', () => {});
      });
      request.flushHeaders();
      await once(request, 'continue');
      request.write('half');
      return { request, answered };
    };
    const [first, second] = [await upload(ends), await upload(goesOn)];
    await sleep(1100); // after this time the request is checked again
    shared.redis.hang();
    try {
      first.request.end();
      expect(await first.answered).toBe(503);
      expect(await second.answered).toBeUndefined();
    } finally {
      shared.redis.wake();
    }
    await until(() => works(pair, client));
    const put = (path: string) =>
      fetch(pair.resource + path, { method: 'PUT', headers: { authorization }, body: 'whole' });
    for (const path of [ends, goesOn]) {
      expect((await fetch(pair.resource + path, { headers: { authorization } })).status).toBe(404);
      expect((await put(path)).status).toBe(201);
    }
  });

  test.each(['postgres', 'redis'] as const)(
    'if %s is killed and started again, requests get 503 meanwhile, and every acknowledged revocation holds',
    async (killed) => {
      const { pair } = flow;
      const client = await pair.addClient();
      const [good, revoked] = await goodAndRevoked(pair, client);
      await shared[killed].kill();
      await refusedUntil(pair, revoked, async () =>
        (await getAll(pair, good)).every((status) => status === 503),
      );
      await pair.resources[1]?.kill();
      await shared[killed].start();
      await pair.resources[1]?.start();
      await refusedUntil(pair, revoked, async () =>
        (await getAll(pair, good)).every((status) => status === 200),
      );
      expect(await getAll(pair, revoked)).toEqual([401, 401]);
      await until(() => works(pair, client));
    },
  );

  test('if the memory of Redis is full, tokens can be revoked, and Bearer works', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const [good, stolen] = [await pair.token(client), await pair.token(client)];
    await shared.redis.cli('CONFIG', 'SET', 'maxmemory', '1');
    try {
      for (let times = 0; times < 2; times += 1) {
        const { status } = await pair.post('/token/revocation', { token: stolen }, client);
        expect(status).toBe(200);
        expect(await getAll(pair, stolen)).toEqual([401, 401]);
      }
      expect(await getAll(pair, good)).toEqual([200, 200]);
    } finally {
      await shared.redis.cli('CONFIG', 'SET', 'maxmemory', '0');
    }
    await until(() => works(pair, client));
  });

  test('if Redis is emptied, the servers restore its revocations, and no revoked token is accepted', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const [good, revoked] = await goodAndRevoked(pair, client);
    await shared.redis.cli('FLUSHALL');
    await refusedUntil(pair, revoked, async () =>
      (await getAll(pair, good)).every((status) => status === 200),
    );
    expect(await getAll(pair, revoked)).toEqual([401, 401]);
    await goodAndRevoked(pair, client);
  });

  test('if Redis is emptied while no authorization server runs, the resource servers restore its revocations', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const [good, revoked] = await goodAndRevoked(pair, client);
    await pair.authz[0]?.kill();
    await shared.redis.cli('FLUSHALL');
    await refusedUntil(pair, revoked, async () =>
      (await getAll(pair, good)).every((status) => status === 200),
    );
    expect(await getAll(pair, revoked)).toEqual([401, 401]);
    await pair.authz[0]?.start();
    await until(() => works(pair, client));
  });
});

/** Checks that the next server has all acknowledged writes. `before`: stops the first server. */
async function failedOver(
  flow: Flow,
  { before, after }: Readonly<Record<'before' | 'after', () => Promise<unknown>>>,
): Promise<void> {
  const { pair } = flow;
  const administration = await administering(flow, () => 0);
  const client = await pair.addClient();
  const [good, revoked] = await goodAndRevoked(pair, client);
  const tokens = await Promise.all(Array.from({ length: 50 }, () => pair.token(client)));
  const acknowledged: string[] = [revoked];
  let gone: Promise<unknown> | undefined;
  const end = new AbortController();
  const administered = (async () => {
    while (!end.signal.aborted) {
      await administration.work().catch((error: unknown) => expect(error).toBeInstanceOf(Refused));
    }
  })();
  for (const token of tokens) {
    const { status } = await pair.post('/token/revocation', { token }, client);
    if (status === 200) acknowledged.push(token);
    else expect(status).toBe(503);
    if (acknowledged.length === 10) gone ??= before();
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(10);
  await gone;
  await after();
  await refusedUntil(pair, revoked, () => works(pair, client));
  for (const token of acknowledged) expect(await getAll(pair, token)).toEqual([401, 401]);
  expect(await getAll(pair, good)).toEqual([200, 200]);
  await goodAndRevoked(pair, client);
  await until(async () => (await administration.work().catch(() => [])).length > 0);
  end.abort();
  await administered;
  await administration.keeps();
}

describe('after a failover the next server has each acknowledged revocation, and each change of an administrator with its event', () => {
  test('Redis with Sentinel beside PostgreSQL', async () => {
    await using postgres = await startPostgres();
    await using set = await startSentinels({ password: 'swordfish' });
    const redis = redisBeside(set.urls, { mode: 'sentinel', replicas: 1, deadline: 4 });
    const store = postgresStore([postgres.url], { redis });
    await using flow = await startFlow({ store, resource: 2 });
    const master = await set.master();
    await failedOver(flow, {
      before: () => master.kill(),
      after: () => until(async () => (await set.master()) !== master),
    });
  });

  test('PostgreSQL with a standby that confirms each commit, and Redis', async () => {
    await using shared = await startSharedStore({ deadline: 4 });
    const { postgres, store } = shared;
    await using standby = await startPostgres({ standbyOf: postgres });
    await postgres.waitFor(standby);
    const urls = [postgres.url, standby.url];
    await using flow = await startFlow({ store: { ...store, urls }, resource: 2 });
    await failedOver(flow, {
      before: () => postgres.kill(),
      after: () => standby.promote(),
    });
  });
});

describe('SQLite', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({ resource: 2 });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  onAnyStore(() => flow);

  test('if the database file is deleted under the running pair, both servers answer 503, none crashes, and no revoked token is accepted', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const [good, revoked] = await goodAndRevoked(pair, client);
    const away = join(pair.data, 'away');
    await mkdir(away);
    const files = ['state.db', 'state.db-wal', 'state.db-shm'];
    for (const name of files) await rename(join(pair.data, name), join(away, name));
    await refusedUntil(pair, revoked, async () =>
      (await getAll(pair, good)).every((status) => status === 503),
    );
    const { status, headers } = await pair.post('/token', FORM, client);
    expect([status, headers.has('retry-after')]).toEqual([503, true]);
    expect((await pair.post('/token/revocation', { token: good }, client)).status).toBe(503);
    await alive([...pair.authz, ...pair.resources]);
    for (const name of files) await rename(join(away, name), join(pair.data, name));
    await refusedUntil(pair, revoked, async () =>
      (await getAll(pair, good)).every((each) => each === 200),
    );
    await until(() => works(pair, client));
  });

  test('if a backup is restored under the running pair, older tokens are refused and stay so', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const before = await goodAndRevoked(pair, client);
    const backup = join(pair.data, 'backup');
    await pair.cli('backup', backup);
    const after = await goodAndRevoked(pair, client);
    const later = await pair.addClient();
    for (const end of ['-wal', '-shm', '.mark']) await rm(join(pair.data, `state.db${end}`));
    await rename(join(backup, 'state.db'), join(pair.data, 'state.db'));
    const old = [...before, ...after];
    await until(async () => {
      expect(await getAll(pair, before[1])).not.toContain(200);
      expect(await getAll(pair, after[1])).not.toContain(200);
      const statuses = await Promise.all(old.map((token) => getAll(pair, token)));
      return statuses.flat().every((status) => status === 401);
    });
    await until(() => works(pair, client));
    for (const token of old) expect(await getAll(pair, token)).toEqual([401, 401]);
    expect((await pair.post('/token', FORM, later)).status).toBe(401);
    await goodAndRevoked(pair, client);
    await alive([...pair.authz, ...pair.resources]);
  });
});
