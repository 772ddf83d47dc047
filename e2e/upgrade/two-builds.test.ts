import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { redisStore } from '../flows/flow.ts';
import { home, type Home, START } from '../flows/home.ts';
import { commandLine } from '../pair/command-line.ts';
import { freePort } from '../parts/free-port.ts';
import { type RunningProcess, startProcess, until } from '../parts/process.ts';
import { startRedis } from '../parts/redis.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { laterBuild } from './later-build.ts';

/** Today's build and that of the next release, on one store (`shared/stores/redis/migrations`, `shared/stores/sqlite/file`). */
const run = promisify(execFile);

/** Rates that the load does not reach. */
const RATE = { burst: 100_000, per: 0.001 };
const LIMITS = { client: RATE, address: RATE, visits: RATE, allVisits: RATE, account: RATE };

/** Changes that are acknowledged before the next turn. */
const CHANGES = 20;
/** Clients that ask at once. */
const CLIENTS = 3;

/** One running build, behind addresses of its own. */
interface Instance {
  readonly process: RunningProcess;
  readonly authz: number;
  readonly resource: number;
}

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let place: Home;
  let next: string;
  let incompatible: string;
  let client: Record<string, unknown>;
  /** Those that a load balancer would ask. */
  const asked: Instance[] = [];

  beforeAll(async () => {
    const redis = kind === 'redis' ? parts.use(await startRedis()) : undefined;
    place = parts.use(
      await home({ limits: LIMITS, ...(redis && { store: redisStore([redis.url]) }) }),
    );
    const folder = parts.use(await temporaryFolder());
    next = await laterBuild(join(folder.path, 'next'), 'next');
    incompatible = await laterBuild(join(folder.path, 'incompatible'), 'incompatible');
  });
  afterAll(() => parts.disposeAsync());

  async function start(main: string): Promise<Instance> {
    const [authz, resource] = await Promise.all([freePort(), freePort()]);
    const file = join(place.data, '..', `${authz}.json`);
    const none = { port: 0 };
    const listen = { authz: { port: authz }, resource: { port: resource } };
    const config = {
      ...place.config,
      listen: { ...listen, authzTls: none, resourceTls: none, proxy: none },
      jwks: { url: `http://localhost:${authz}/jwks` },
    };
    await writeFile(file, JSON.stringify(config));
    const process = await startProcess(globalThis.process.execPath, [main], {
      env: { ...place.env, COUNTERSIGN_CONFIG: file },
      ready: (output) => output.includes('ready.'),
    });
    parts.use(process);
    return { process, authz, resource };
  }

  /** One of those that are asked: another one each time. */
  let turn = 0;
  const some = () => asked[(turn += 1) % asked.length]!;

  async function ask(port: number, of: string, path: string, more: Parameters<typeof request>[1]) {
    // As a load balancer sends it on.
    const headers = { host: new URL(of).host, ...(more?.headers as Record<string, string>) };
    const answer = await request(`http://127.0.0.1:${port}${path}`, { ...more, headers });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  const post = (path: string, form: Record<string, string>) =>
    ask(some().authz, place.issuer, path, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${String(client['client_id'])}:${String(client['client_secret'])}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    });

  async function issued(): Promise<string> {
    const { status, text } = await post('/token', { grant_type: 'client_credentials' });
    expect([status, text]).toEqual([200, expect.any(String)]);
    return String((JSON.parse(text) as Record<string, unknown>)['access_token']);
  }

  const at = (token: string, path: string, body?: string) =>
    ask(some().resource, place.resource, `/documents/${path}`, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
      ...(body !== undefined && { body }),
    });

  test('they take turns under load, and nothing that was acknowledged is lost', async () => {
    const first = await start(START);
    asked.push(first);
    client = await commandLine(
      [
        'client',
        'add',
        '--name',
        'Load',
        '--grant',
        'client_credentials',
        '--scope',
        'documents:read documents:write',
      ],
      place.env,
    );
    const written: string[] = [];
    const revoked: string[] = [];
    const done = new AbortController();
    const load = Promise.all(
      Array.from({ length: CLIENTS }, async (_, n) => {
        for (let i = 0; !done.signal.aborted; i += 1) {
          const token = await issued();
          const path = `${n}-${i}.txt`;
          expect(await at(token, path, path)).toMatchObject({ status: 201 });
          written.push(path);
          expect(await at(token, path)).toEqual({ status: 200, text: path });
          expect(await post('/token/revocation', { token })).toMatchObject({ status: 200 });
          revoked.push(token);
          expect(await at(token, path)).toMatchObject({ status: 401 });
          // While a build starts, it has the machine.
          await sleep(50);
        }
      }),
    );
    // An answer that is wrong ends the test at once.
    const busy = async () => {
      const reached = written.length + CHANGES;
      await Promise.race([load, until(async () => written.length >= reached)]);
    };
    const stop = async (instance: Instance) => {
      asked.splice(asked.indexOf(instance), 1);
      await busy();
      await instance.process.kill('SIGTERM');
      expect(instance.process.exitCode).toBe(0);
    };
    parts.defer(() => done.abort());
    await busy();
    for (const main of [next, START, next]) {
      const instance = await start(main);
      asked.push(instance);
      await busy();
      await stop(asked[0]!);
      await busy();
    }
    const older = await start(START);
    asked.push(older);
    await busy();
    done.abort();
    await load;

    const reader = await issued();
    for (const instance of asked.splice(0)) {
      asked.splice(0, 1, instance);
      const read = await Promise.all(written.map((path) => at(reader, path)));
      expect(read).toEqual(written.map((path) => ({ status: 200, text: path })));
      const refused = await Promise.all(revoked.map((token) => at(token, '')));
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
      await instance.process.kill('SIGTERM');
    }
  });

  test('the older one refuses a store whose oldest compatible version is above it, and says what to do', async () => {
    const newest = await start(incompatible);
    await newest.process.kill('SIGTERM');
    const { code, said } = await place.refused();
    expect(code).toBe(1);
    expect(said).toMatch(/made by a newer release|written by a newer version/);
    expect(said).toMatch(/Start the newer (release|version), or restore a/);
    const command = run(process.execPath, [join(START, '../../cli/main.js'), 'user', 'list'], {
      env: place.env,
    });
    await expect(command).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Start the newer (release|version)/),
    });
  });
});
