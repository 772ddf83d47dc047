import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tokenKeyId, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { BLIND_RSA } from '#shared/private-token/token-types.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { HttpResponse } from '../clients/digest/exchange.ts';
import { tokenRequest } from '../clients/private-token/private-token-client.ts';
import { ONE_STORE, STORE_KINDS } from '../flows/flow.ts';
import { until } from '../parts/process.ts';
import {
  mint,
  type Minted,
  offerOf,
  spend,
  startTokenServers,
  tally,
  tokenFor,
  type TokenServers,
  TYPES,
  unsound,
} from './private-token.fixture.ts';

/** Tokens while a process, the store or a key is missing. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TokenServers;
  beforeAll(async () => {
    servers = await startTokenServers(kind, { deadline: 4 });
  });
  afterAll(async () => servers[Symbol.asyncDispose]());

  const show = (server: number, token: Uint8Array) =>
    spend(servers.origin(server % 2), 'tokens', token);
  const statuses = async (token: Uint8Array) => [
    (await show(0, token)).status,
    (await show(1, token)).status,
  ];
  const ofEachType = () => Promise.all(TYPES.map(({ type }) => tokenFor(servers, 'tokens', type)));

  test('a token spent at a process that is then killed (-9) stays refused at both processes', async () => {
    for (const dying of [0, 1]) {
      const [tokens, unspent] = [await ofEachType(), await ofEachType()];
      const server = servers.flow.pair.resources[dying];
      for (const token of tokens) expect((await show(dying, token)).status).toBe(200);
      await server?.kill('SIGKILL');
      for (const token of tokens) expect((await show(1 - dying, token)).status).toBe(401);
      await server?.start();
      for (const token of tokens) expect(await statuses(token)).toEqual([401, 401]);
      for (const token of unspent) expect((await show(dying, token)).status).toBe(200);
    }
  });

  test('if a process is killed (-9) during twenty requests with one token, the token is admitted at most once', async () => {
    for (const dying of [1, 0]) {
      const tokens = await ofEachType();
      const server = servers.flow.pair.resources[dying];
      const shown = tokens.map((token) =>
        Array.from({ length: 20 }, (_, n) => show(n, token).catch(() => ({ status: 0 }))),
      );
      await Promise.race(shown.flat());
      await server?.kill('SIGKILL');
      const answers = await Promise.all(shown.map((all) => Promise.all(all)));
      await server?.start();
      for (const [n, token] of tokens.entries()) {
        const seen = (answers[n] ?? []).map(({ status }) => status);
        seen.push(...(await statuses(token)));
        expect(seen.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
        expect(new Set([0, 200, 401, ...seen])).toEqual(new Set([0, 200, 401]));
        expect(await statuses(token)).toEqual([401, 401]);
      }
    }
  });

  describe.each(TYPES)('type $type, $name', ({ type }) => {
    const fresh = () => tokenFor(servers, 'tokens', type);

    test('while the store does not answer, the token gets 503; afterwards it is admitted at most once', async () => {
      const [token, spent] = [await fresh(), await fresh()];
      expect((await show(0, spent)).status).toBe(200);
      const answers: HttpResponse[] = [];
      await withoutStore(async () => {
        const shown = [0, 1].flatMap((server) => [token, spent].map((one) => show(server, one)));
        answers.push(...(await Promise.all(shown)));
      });
      expect(tally(answers)).toEqual({ 503: 4 });
      for (const { fields } of answers) expect(valuesOf(fields, 'Retry-After')).toHaveLength(1);
      // A token that got 503 may be spent all the same: the promise is at most once.
      const seen = [...(await statuses(token)), ...(await statuses(token))];
      expect([
        [200, 401, 401, 401],
        [401, 401, 401, 401],
      ]).toContainEqual(seen);
      expect(await statuses(spent)).toEqual([401, 401]);
      expect((await show(1, await fresh())).status).toBe(200);
    });
  });

  test('while the store does not answer, the issuer issues no token', async () => {
    const { octets } = await offerOf(servers, 'tokens', 2);
    const { issuance } = await mint(servers, octets);
    const [directory, fields] = [await servers.directory(), [await servers.access()]];
    const ask = (server: number) =>
      servers.issuer(server)(tokenRequest(directory, issuance.request, fields));
    expect((await ask(0)).status).toBe(200);
    await withoutStore(async () => {
      const answers = await Promise.all([0, 1].map(ask));
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    });
    expect((await ask(1)).status).toBe(200);
  });

  /**
   * Blocks writes to the store meanwhile, and reads too in PostgreSQL and Redis. Resolves when all servers
   * are ready again.
   */
  async function withoutStore(work: () => Promise<void>): Promise<void> {
    const { shared, flow } = servers;
    await using stopped = new AsyncDisposableStack();
    // The log reports the failed store, which the test expects.
    const isMeant = (wrong: string) => wrong.includes('"event":"store.failing"');
    stopped.defer(() => until(async () => (await unsound(servers)).every(isMeant)));
    if (shared === undefined) {
      for (const name of ['state.db', 'transient.db']) {
        // A server may be writing at that moment.
        const file = new DatabaseSync(join(flow.pair.data, name), { timeout: 10_000 });
        const database = stopped.adopt(file, (one) => one.close());
        database.exec('BEGIN IMMEDIATE');
      }
    } else {
      await shared.postgres.hang();
      shared.redis.hang();
      stopped.defer(() => shared.redis.wake());
      stopped.defer(() => shared.postgres.wake());
    }
    await work();
  }
});

describe.each(ONE_STORE)('on %s, keys that live for seconds', (kind) => {
  let servers: TokenServers;
  beforeAll(async () => {
    const times = { rotation: 5, overlap: 3, maxAge: 2 };
    servers = await startTokenServers(kind, { times, settings: { tokens: { skew: 0 } } });
  });
  afterAll(async () => servers[Symbol.asyncDispose]());

  const status = async (server: number, token: Buffer) =>
    (await spend(servers.origin(server), 'tokens', token)).status;
  /** Returns the issuer's answer to a request. */
  const answerTo = async (server: number, request: Buffer) =>
    servers.issuer(server)(
      tokenRequest(await servers.directory(), request, [await servers.access()]),
    );

  test('RFC 9578 section 4: a token expires with its key, used or not, and a token of the next key works', async () => {
    const old: { type: (typeof TYPES)[number]['type']; spent: Minted; unspent: Minted }[] = [];
    for (const { type } of TYPES) {
      await until(async () => {
        const { octets } = await offerOf(servers, 'tokens', type);
        const [spent, unspent] = [await mint(servers, octets), await mint(servers, octets)];
        // Try again: the key expired meanwhile.
        if ((await status(0, spent.token)) !== 200) return false;
        old.push({ type, spent, unspent });
        return true;
      });
    }
    const ids = old.flatMap(({ spent, unspent }) =>
      [spent, unspent].map(({ token }) => idIn(token)),
    );
    await until(async () => {
      const { keys } = await servers.directory();
      return !keys.some(({ key }) => ids.some((id) => id.equals(tokenKeyId(key))));
    });
    for (const { type, spent, unspent } of old) {
      for (const server of [0, 1]) {
        expect(await status(server, spent.token)).toBe(401);
        expect(await status(server, unspent.token)).toBe(401);
        expect((await answerTo(server, unspent.issuance.request)).status).toBe(422);
      }
      await until(async () => {
        const next = await tokenFor(servers, 'tokens', type);
        // Try again: this key expired meanwhile, too.
        return !ids.some((id) => id.equals(idIn(next))) && (await status(1, next)) === 200;
      });
    }
  });

  test.each(TYPES)(
    'section 4: a key before its start issues no token and is in no challenge: $name',
    async ({ type }) => {
      const seen: unknown[] = [];
      await until(async () => {
        const { keys } = await servers.directory();
        const early = keys.find((key) => key.type === type && key.notBefore * 1000 > Date.now());
        if (early === undefined) return false;
        const { issuance } = await mint(servers, Buffer.of(0, type));
        const request = Buffer.from(issuance.request);
        request.writeUInt8(truncatedKeyId(tokenKeyId(early.key)), 2);
        // A blinded message below any modulus is well-formed.
        if (type === BLIND_RSA) request.writeUInt8(0, 3);
        const { status: answered } = await answerTo(1, request);
        const { key } = await offerOf(servers, 'tokens', type);
        // Try again: the key may have started meanwhile.
        if (Date.now() >= early.notBefore * 1000) return false;
        seen.push(answered, key.equals(early.key));
        return true;
      });
      expect(seen).toEqual([422, false]);
    },
  );
});

const idIn = (token: Buffer) => token.subarray(66, 98);
