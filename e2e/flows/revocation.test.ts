import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { until } from '../parts/process.ts';
import { getAll, startFlowOn, STORE_KINDS } from './flow.ts';
import type { Client, Flow } from './flow.ts';

/** Rounds for each kind of revocation. All kinds use one feed, so that its losses would show in the sum. */
const ROUNDS = 20;

/** Two resource servers that learn of revocations through the store only. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  let client: Client;
  /** A resource server's client, which may introspect every token for it. */
  let inspector: Client;

  beforeAll(async () => {
    flow = await startFlowOn(kind, { resource: 2 });
    const { pair } = flow;
    client = await pair.addClient();
    const args = ['--name', 'RS', '--grant', 'client_credentials'];
    const added = await pair.cli('client', 'add', ...args, '--introspects', pair.documents);
    inspector = { id: String(added['client_id']), secret: String(added['client_secret']) };
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  async function isActive(token: string): Promise<unknown> {
    const { body } = await flow.pair.post('/token/introspection', { token }, inspector);
    return body['active'];
  }

  /**
   * Checks that each token works everywhere, is revoked, and is refused everywhere from the next request
   * on.
   */
  async function bites(
    times: number,
    issue: () => Promise<string>,
    revoke: (token: string) => Promise<unknown>,
  ): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const token = await issue();
      expect(await getAll(flow.pair, token)).toEqual([200, 200]);
      expect(await isActive(token)).toBe(true);
      await revoke(token);
      expect(await getAll(flow.pair, token)).toEqual([401, 401]);
      expect(await isActive(token)).toBe(false);
    }
  }

  describe('both resource servers refuse from the next request on', () => {
    test('RFC 7009 section 2: a token that its client revokes', async () => {
      const { pair } = flow;
      await bites(
        ROUNDS,
        () => pair.token(client),
        async (token) => {
          const { status } = await pair.post('/token/revocation', { token }, client);
          expect(status).toBe(200);
        },
      );
    });

    test('a revoked token that neither server has seen before', async () => {
      const { pair } = flow;
      for (let time = 0; time < ROUNDS; time += 1) {
        const token = await pair.token(client);
        await pair.post('/token/revocation', { token }, client);
        expect(await getAll(pair, token)).toEqual([401, 401]);
      }
    });

    test('a token that the operator revokes', async () => {
      const { pair } = flow;
      await bites(
        5,
        () => pair.token(client),
        (token) => pair.cli('token', 'revoke', token),
      );
    });

    test('every token of a revoked grant, and none of another grant', async () => {
      const { stores } = flow;
      const other = await flow.forge({
        client_id: client.id,
        sub: 'alice',
        grant_id: randomUUID(),
      });
      await bites(
        ROUNDS,
        () => flow.forge({ client_id: client.id, sub: 'alice', grant_id: randomUUID() }),
        (token) =>
          stores.revocations.revoke('grant', String(decodeJwt(token)['grant_id']), flow.until()),
      );
      expect(await getAll(flow.pair, other)).toEqual([200, 200]);
    });

    test('every token of a revoked person, and none of another person or of a client of that name', async () => {
      const { stores } = flow;
      const ofPerson = async (sub: string) =>
        flow.forge({
          client_id: client.id,
          sub,
          sub_gen: await stores.revocations.generation('person', sub),
        });
      const others = [await ofPerson('bob'), await flow.forge({ client_id: 'alice' })];
      await bites(
        ROUNDS,
        () => ofPerson('alice'),
        () => stores.revocations.raise('person', 'alice', flow.until()),
      );
      for (const other of others) expect(await getAll(flow.pair, other)).toEqual([200, 200]);
    });

    test('every token of a revoked client', async () => {
      const { pair, stores } = flow;
      const other = await pair.token(await pair.addClient());
      await bites(
        ROUNDS,
        () => pair.token(client),
        () => stores.revocations.raise('client', client.id, flow.until()),
      );
      expect(await getAll(pair, other)).toEqual([200, 200]);
    });

    test('every token of a removed client, which gets no new token', async () => {
      const { pair } = flow;
      let removed = client;
      await bites(
        3,
        async () => {
          removed = await pair.addClient();
          return pair.token(removed);
        },
        () => pair.cli('client', 'remove', removed.id),
      );
      const form = { grant_type: 'client_credentials' };
      const { status, body } = await pair.post('/token', form, removed);
      expect([status, body['error']]).toEqual([401, 'invalid_client']);
    });

    test('every token of a compromised key, while the next token has another key', async () => {
      const { pair } = flow;
      await bites(
        5,
        () => pair.token(client),
        () => pair.cli('signing-keys', 'rotate', '--compromised'),
      );
    });
  });

  test('wall clocks do not matter: of two tokens of one second, only the revoked token is refused', async () => {
    const { pair, stores } = flow;
    let sameSecond = 0;
    for (let time = 0; time < 30; time += 1) {
      const before = await pair.token(client);
      await stores.revocations.raise('client', client.id, flow.until());
      const after = await pair.token(client);
      expect(await getAll(pair, before)).toEqual([401, 401]);
      expect(await getAll(pair, after)).toEqual([200, 200]);
      if (decodeJwt(before).iat === decodeJwt(after).iat) sameSecond += 1;
    }
    expect(sameSecond).toBeGreaterThan(0);
  });

  test('if a token is revoked during ten of its requests, every later request is refused', async () => {
    const { pair } = flow;
    for (let time = 0; time < 10; time += 1) {
      const token = await pair.token(client);
      const racing = Array.from({ length: 10 }, () => getAll(pair, token));
      await pair.post('/token/revocation', { token }, client);
      expect(await getAll(pair, token)).toEqual([401, 401]);
      for (const status of (await Promise.all(racing)).flat()) expect([200, 401]).toContain(status);
    }
  });

  test('a resource server that starts late knows all revocations before its start', async () => {
    const { pair, stores } = flow;
    const [, late] = pair.resources;
    await late?.kill();
    const grant = randomUUID();
    const tokens = [
      await pair.token(client),
      await flow.forge({ client_id: client.id, grant_id: grant }),
      await flow.forge({ client_id: client.id, sub: 'carol', sub_gen: 0 }),
      await pair.token(await pair.addClient()),
    ];
    const [token = '', , , ofClient = ''] = tokens;
    await pair.post('/token/revocation', { token }, client);
    await stores.revocations.revoke('grant', grant, flow.until());
    await stores.revocations.raise('person', 'carol', flow.until());
    await pair.cli('client', 'remove', String(decodeJwt(ofClient)['client_id']));
    await late?.start();
    for (const revoked of tokens) expect(await pair.get(revoked, 1)).toBe(401);
    expect(await pair.get(await pair.token(client), 1)).toBe(200);
  });

  test('the cleanup of old entries restores no token, and the next revocation is noticed', async () => {
    const { pair, stores, config } = flow;
    const remembered = async () => {
      await using feed = await stores.revocations.feed();
      return feed.status().entries;
    };
    const before = await remembered();
    const end = Math.floor(Date.now() / 1000) + 2;
    const token = await flow.forge({ client_id: client.id, exp: end - config.tokens.skew });
    expect(await getAll(pair, token)).toEqual([200, 200]);
    await stores.revocations.revoke('token', String(decodeJwt(token).jti), end * 1000);
    expect(await remembered()).toBe(before + 1);
    await until(async () => {
      expect(await getAll(pair, token)).toEqual([401, 401]);
      await stores.sweep();
      return (await remembered()) === before;
    });
    expect(Date.now()).toBeGreaterThanOrEqual(end * 1000);
    expect(await getAll(pair, token)).toEqual([401, 401]);
    await bites(
      1,
      () => pair.token(client),
      (next) => pair.post('/token/revocation', { token: next }, client),
    );
  });
});
