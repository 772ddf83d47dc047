/** @slow */
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LimitNamespace } from '#shared/stores/limits/limits.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import {
  AS,
  MASTER,
  startTokenIssuer,
  tokenRequest,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

const BURST = 20;
let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer({ limits: { privateTokens: { burst: BURST, per: 60 } } });
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const good = async (type: TokenType = VOPRF) => tokenRequest(await tokenIssuer.currentKey(type));

describe('the quota of a person and a client', () => {
  const spendAll = async (token?: string) => {
    const { body } = await good(BLIND_RSA);
    for (let spent = 0; spent < BURST; spent += 1) {
      expect((await tokenIssuer.request(body, token === undefined ? {} : { token })).status).toBe(
        200,
      );
    }
    return body;
  };

  test('RFC 6585 section 4: a request over the quota gets 429 with Retry-After, until time has passed', async () => {
    const body = await spendAll();
    const refused = await tokenIssuer.request(body);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    tokenIssuer.clock.advance(60);
    expect((await tokenIssuer.request(body)).status).toBe(200);
    expect((await tokenIssuer.request(body)).status).toBe(429);
  });

  test('ten concurrent requests near the end of the quota get no more tokens than are left', async () => {
    const { body } = await good(VOPRF);
    for (let spent = 0; spent < BURST - 3; spent += 1) await tokenIssuer.request(body);
    const all = await Promise.all(
      Array.from({ length: 10 }, async () => (await tokenIssuer.request(body)).status),
    );
    expect(all.toSorted((a, b) => a - b)).toEqual([200, 200, 200, ...Array<number>(7).fill(429)]);
  });

  test('another access token of the same person has the same quota', async () => {
    const body = await spendAll();
    const token = tokenIssuer.accessToken({ grant_id: 'g2', jti: 'another' });
    expect((await tokenIssuer.request(body, { token })).status).toBe(429);
  });

  test('another person and another client have other quotas', async () => {
    const body = await spendAll();
    for (const claims of [{ sub: 'bob-id' }, { client_id: 'other' }]) {
      expect(
        (await tokenIssuer.request(body, { token: tokenIssuer.accessToken(claims) })).status,
      ).toBe(200);
    }
  });

  test('a client that acts for itself has a quota of its own, whatever its name', async () => {
    const machine = { sub: 'app', sub_gen: undefined, grant_id: undefined };
    const body = await spendAll();
    const token = tokenIssuer.accessToken(machine);
    expect((await tokenIssuer.request(body, { token })).status).toBe(200);
    for (let spent = 1; spent < BURST; spent += 1) await tokenIssuer.request(body, { token });
    expect((await tokenIssuer.request(body, { token })).status).toBe(429);
  });

  test('a request that is refused earlier does not use the quota', async () => {
    for (let count = 0; count <= BURST; count += 1) await tokenIssuer.request(Buffer.alloc(52));
    expect((await tokenIssuer.request((await good()).body)).status).toBe(200);
  });

  test('a computation uses the quota even if it gives no token', async () => {
    const { body } = await good();
    body.fill(0xff, 3);
    for (let count = 0; count < BURST; count += 1) {
      expect((await tokenIssuer.request(body)).status).toBe(422);
    }
    expect((await tokenIssuer.request(body)).status).toBe(429);
  });
});

describe('a reader of the store cannot find a person’s bucket by trying names', () => {
  const keyed = (master: Buffer, payer: string) =>
    createHmac('sha256', derivedKey(master, 'countersign authz private-token quota'))
      .update(payer)
      .digest('base64url');

  /** Returns how many tokens were taken from the bucket of that key; the check itself takes one. */
  async function taken(namespace: LimitNamespace, key: string): Promise<number> {
    const spent = await tokenIssuer.stores.limits.spend(namespace, key, { burst: BURST, per: 60 });
    if (!spent.ok) throw new Error('the bucket is empty');
    return BURST - 1 - spent.remaining;
  }

  test.each([
    ['a person', {}, [AS, 'alice-id', 'app']],
    ['a machine', { sub: 'app', sub_gen: undefined, grant_id: undefined }, ['app']],
  ])('the name of the bucket of %s needs the master secret', async (_, claims, payer) => {
    const { body } = await good(BLIND_RSA);
    const token = tokenIssuer.accessToken(claims);
    for (let spent = 0; spent < 3; spent += 1) await tokenIssuer.request(body, { token });
    const names = JSON.stringify(payer);
    expect(await taken('private-token', names)).toBe(0);
    expect(await taken('private-token', keyed(Buffer.alloc(32, 8), names))).toBe(0);
    expect(await taken('private-token', keyed(MASTER, names))).toBe(3);
  });

  test('a resource server that has tokens verified', async () => {
    const token = await tokenIssuer.obtain(await tokenIssuer.currentKey(VOPRF));
    await tokenIssuer.verify(token);
    const names = JSON.stringify(['resource-server']);
    expect(await taken('private-token-verification', names)).toBe(0);
    expect(await taken('private-token-verification', 'resource-server')).toBe(0);
  });
});
