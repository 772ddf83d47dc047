import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { startWorld, tokenRequest, type World } from './token-issuer.fixture.ts';

const BURST = 20;
let world: World;
beforeEach(async () => {
  world = await startWorld({ limits: { privateTokens: { burst: BURST, per: 60 } } });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const good = async (type: TokenType = VOPRF) => tokenRequest(await world.currentKey(type));

describe('the quota of a person and a client', () => {
  const spendAll = async (token?: string) => {
    const { body } = await good(BLIND_RSA);
    for (let spent = 0; spent < BURST; spent += 1) {
      expect((await world.request(body, token === undefined ? {} : { token })).status).toBe(200);
    }
    return body;
  };

  test('RFC 6585 section 4: over it 429 with Retry-After, until time has passed', async () => {
    const body = await spendAll();
    const refused = await world.request(body);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    world.clock.advance(60);
    expect((await world.request(body)).status).toBe(200);
    expect((await world.request(body)).status).toBe(429);
  });

  test('ten at once at its end: no more than are left', async () => {
    const { body } = await good(VOPRF);
    for (let spent = 0; spent < BURST - 3; spent += 1) await world.request(body);
    const all = await Promise.all(
      Array.from({ length: 10 }, async () => (await world.request(body)).status),
    );
    expect(all.toSorted((a, b) => a - b)).toEqual([200, 200, 200, ...Array<number>(7).fill(429)]);
  });

  test('another access token of the same person is no way around it', async () => {
    const body = await spendAll();
    const token = world.accessToken({ grant_id: 'g2', jti: 'another' });
    expect((await world.request(body, { token })).status).toBe(429);
  });

  test('neither another person nor another client is kept out by it', async () => {
    const body = await spendAll();
    for (const claims of [{ sub: 'bob-id' }, { client_id: 'other' }]) {
      expect((await world.request(body, { token: world.accessToken(claims) })).status).toBe(200);
    }
  });

  test('a client by itself has one of its own, whatever its name', async () => {
    const machine = { sub: 'app', sub_gen: undefined, grant_id: undefined };
    const body = await spendAll();
    const token = world.accessToken(machine);
    expect((await world.request(body, { token })).status).toBe(200);
    for (let spent = 1; spent < BURST; spent += 1) await world.request(body, { token });
    expect((await world.request(body, { token })).status).toBe(429);
  });

  test('what is refused before it costs nothing', async () => {
    for (let count = 0; count <= BURST; count += 1) await world.request(Buffer.alloc(52));
    expect((await world.request((await good()).body)).status).toBe(200);
  });

  test('what is computed is paid for, whether or not it gives a token', async () => {
    const { body } = await good();
    body.fill(0xff, 3);
    for (let count = 0; count < BURST; count += 1) {
      expect((await world.request(body)).status).toBe(422);
    }
    expect((await world.request(body)).status).toBe(429);
  });
});
