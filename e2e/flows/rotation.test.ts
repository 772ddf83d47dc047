import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Pair } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { getAll, startFlowOn, STORE_KINDS } from './flow.ts';
import type { Client, Flow } from './flow.ts';

const WORKERS = 4;
/** Milliseconds between two rounds of a worker, during a rotation and while a key ages. */
const REST = 10;
const LONG_REST = 250;

interface Issued {
  readonly token: string;
  /** When the token request was sent and answered, by `performance.now()`. */
  readonly asked: number;
  readonly got: number;
  /** The statuses of both resource servers, asked at once. */
  readonly statuses: readonly number[];
}

/**
 * Gets tokens from all authorization servers in rotation, and uses each token at once at all resource
 * servers.
 */
function startLoad(pair: Pair, client: Client, rest = REST) {
  const issued: Issued[] = [];
  const end = new AbortController();
  const work = async (worker: number) => {
    for (let turn = worker; !end.signal.aborted; turn += 1) {
      const asked = performance.now();
      const token = await pair.token(client, turn % pair.authz.length);
      const got = performance.now();
      issued.push({ token, asked, got, statuses: await getAll(pair, token) });
      await sleep(rest);
    }
  };
  const workers = Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  return {
    issued,
    /** Rejects if an authorization server refused a request. */
    async stop(): Promise<readonly Issued[]> {
      end.abort();
      await workers;
      return issued;
    },
  };
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

/** The ids of the keys that sign access tokens for the documents. */
async function publishedKids(pair: Pair, server: number): Promise<unknown[]> {
  const response = await fetch(`${pair.authz[server]?.url}/jwks`);
  const { keys } = (await response.json()) as { keys: { kid: string; alg: string }[] };
  return keys.filter(({ alg }) => alg === 'ES256').map(({ kid }) => kid);
}

// The test mostly waits for tokens to expire, so it runs on all stores at once.
test.concurrent.each(STORE_KINDS)(
  'on %s: a rotation under load refuses no token, and retires the old key after its last token',
  async (kind) => {
    const settings = {
      jwks: { maxAge: 1, cooldown: 1, overlap: 2 },
      tokens: { lifetime: 10, skew: 1 },
    };
    await using flow = await startFlowOn(kind, { authz: 2, resource: 2, settings });
    const { pair } = flow;
    const client = await pair.addClient();
    const load = startLoad(pair, client);
    await until(() => load.issued.length > 20);

    const old = kidOf(await pair.token(client));
    const { kid } = await pair.cli('signing-keys', 'rotate');
    expect(await publishedKids(pair, 0)).toEqual([old, kid]);
    expect(await publishedKids(pair, 1)).toEqual([old, kid]);
    await until(() => WORKERS <= load.issued.slice(-WORKERS).filter(signedBy(kid)).length);
    const amid = await load.stop();

    // The last token of the old key is valid until it expires.
    const last = amid.findLast(signedBy(old));
    const later = startLoad(pair, client, LONG_REST);
    const { exp = 0 } = decodeJwt(last?.token ?? '');
    let uses = 0;
    while (Date.now() < exp * 1000) {
      expect(await getAll(pair, last?.token ?? '')).toEqual([200, 200]);
      uses += 1;
      await sleep(LONG_REST);
    }
    expect(uses).toBeGreaterThan(0);
    for (const server of [0, 1]) {
      await until(async () => !(await publishedKids(pair, server)).includes(old));
    }
    const issued = [...amid, ...(await later.stop())];
    expect(issued.filter(({ statuses }) => statuses.some((status) => status !== 200))).toEqual([]);
    expect(new Set(issued.map(({ token }) => kidOf(token)))).toEqual(new Set([old, kid]));
  },
);

describe.each(STORE_KINDS)('on %s: a compromised key', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2, resource: 2 });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  test('under load: its tokens are refused, and every token issued afterwards works', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    const load = startLoad(pair, client);
    for (let rotation = 0; rotation < 3; rotation += 1) {
      const before = load.issued.length;
      await until(() => load.issued.length > before + 20);
      const from = load.issued.length;
      const { ended } = await pair.cli('signing-keys', 'rotate', '--compromised');
      const returned = performance.now();
      const fresh = await Promise.all([pair.token(client, 0), pair.token(client, 1)]);
      for (const token of fresh) expect(await getAll(pair, token)).toEqual([200, 200]);
      const revoked = load.issued.slice(from - 10).filter(signedBy(ended));
      expect(revoked.length).toBeGreaterThan(0);
      for (const { token } of revoked) expect(await getAll(pair, token)).toEqual([401, 401]);
      await until(() => load.issued.slice(-WORKERS).every(({ asked }) => asked > returned));
      const after = load.issued.filter(({ asked }) => asked > returned);
      expect(after.filter(({ statuses }) => statuses.some((status) => status !== 200))).toEqual([]);
    }
    await load.stop();
  });

  test('without load: the next token works everywhere', async () => {
    const { pair } = flow;
    const client = await pair.addClient();
    for (let rotation = 0; rotation < 2; rotation += 1) {
      const old = await Promise.all([pair.token(client, 0), pair.token(client, 1)]);
      for (const token of old) expect(await getAll(pair, token)).toEqual([200, 200]);
      await pair.cli('signing-keys', 'rotate', '--compromised');
      const fresh = await Promise.all([pair.token(client, 0), pair.token(client, 1)]);
      for (const token of fresh) expect(await getAll(pair, token)).toEqual([200, 200]);
      for (const token of old) expect(await getAll(pair, token)).toEqual([401, 401]);
    }
  });
});

function signedBy(kid: unknown) {
  return ({ token }: Issued) => kidOf(token) === kid;
}
