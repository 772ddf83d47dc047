/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DirectoryKey } from '#shared/private-token/issuer-directory.ts';
import { type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { parseToken } from '#shared/private-token/token.ts';
import { blindRsaPublicKey, verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';
import {
  startTokenIssuer,
  TIMES,
  tokenRequest,
  TYPES,
  validity,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer({}, { processes: 2 });
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const pass = async (seconds: number) => {
  tokenIssuer.clock.advance(seconds);
  await tokenIssuer.chores();
};

/** Returns whether a token is valid, as an origin checks it. */
async function isGood(token: Buffer, { publicKey }: DirectoryKey): Promise<unknown> {
  const parsed = parseToken(token);
  if (parsed?.type === VOPRF) return validity(await tokenIssuer.verify(token));
  const key = blindRsaPublicKey(publicKey);
  return parsed && key && verifyBlindRsa(key, parsed.input, parsed.authenticator);
}

const successorOf = async ({ type, id }: DirectoryKey) => {
  const [newest] = await tokenIssuer.directoryKeys(type);
  if (newest === undefined || newest.id.equals(id)) throw new Error('there is no successor');
  return newest;
};

describe.each(TYPES)('RFC 9578 section 4: rotation of type %i', (type: TokenType) => {
  test('a token that is requested under the older key is issued and valid until that key retires', async () => {
    const old = await tokenIssuer.currentKey(type);
    const asked = tokenRequest(old);
    const early = await tokenIssuer.obtain(old);

    await pass(TIMES.rotation);
    expect((await tokenIssuer.currentKey(type)).id).not.toEqual(old.id);
    const { status, body } = await tokenIssuer.request(asked.body);
    expect(status).toBe(200);
    const late = asked.token(body);
    if (late === undefined) throw new Error('the response is not right');
    expect(await isGood(late, old)).toBe(true);
    expect(await isGood(early, old)).toBe(true);

    await pass(TIMES.overlap - 1);
    expect(await isGood(early, old)).toBe(true);
    expect((await tokenIssuer.request(asked.body)).status).toBe(200);
    await pass(1);
    expect((await tokenIssuer.request(asked.body)).status).toBe(422);
    if (type === VOPRF) expect(await isGood(early, old)).toBe(false);
    expect(await tokenIssuer.directoryKeys(type)).not.toContainEqual(old);
  });

  test('a key retires on time in a process that has done nothing since', async () => {
    const old = await tokenIssuer.currentKey(type);
    tokenIssuer.clock.advance(TIMES.rotation + TIMES.overlap);
    expect((await tokenIssuer.request(tokenRequest(old).body, { at: 1 })).status).toBe(422);
  });

  test('a key issues no token before its time, except for the difference of clocks', async () => {
    const old = await tokenIssuer.currentKey(type);
    await pass(TIMES.rotation - TIMES.maxAge);
    const next = await successorOf(old);
    expect(next.notBefore).toBe((old.notBefore ?? 0) + TIMES.rotation);
    const { body } = tokenRequest(next);
    expect((await tokenIssuer.request(body)).status).toBe(422);
    await pass(TIMES.maxAge - 6);
    expect((await tokenIssuer.request(body)).status).toBe(422);
    await pass(1);
    expect((await tokenIssuer.request(body)).status).toBe(200);
  });

  test('a key that another process has just made issues tokens here at once', async () => {
    const old = await tokenIssuer.currentKey(type);
    await pass(TIMES.rotation);
    const next = await successorOf(old);
    const asked = tokenRequest(next);
    const { status, body } = await tokenIssuer.request(asked.body, { at: 1 });
    expect(status).toBe(200);
    const token = asked.token(body);
    if (token === undefined) throw new Error('the response is not right');
    expect(await isGood(token, next)).toBe(true);
    if (type === VOPRF) expect(validity(await tokenIssuer.verify(token, { at: 1 }))).toBe(true);
  });

  test('the store no longer has the private part of a retired key', async () => {
    const { id } = await tokenIssuer.currentKey(type);
    const row = async () =>
      (await tokenIssuer.stores.tokenKeys.list()).find(
        (one) => one.id === id.toString('base64url'),
      );
    await pass(TIMES.rotation);
    expect((await row())?.sealed).toBeDefined();
    await pass(TIMES.overlap);
    expect(await row()).toBeDefined();
    expect((await row())?.sealed).toBeUndefined();
  });

  test('after a time in which no process ran there is a key at once', async () => {
    await pass(10 * (TIMES.rotation + TIMES.overlap));
    const key = await tokenIssuer.currentKey(type);
    expect(key.notBefore).toBe(tokenIssuer.now());
    expect(await isGood(await tokenIssuer.obtain(key), key)).toBe(true);
  });
});

test('two processes that start at once make one key of each type', async () => {
  await using both = await startTokenIssuer({}, { processes: 2, newKeys: true });
  const listed = await both.stores.tokenKeys.list();
  expect(new Set(listed.map(({ type }) => type))).toEqual(new Set(TYPES));
  expect(listed).toHaveLength(TYPES.length);
});

test('two processes that rotate at once make one key of each type', async () => {
  tokenIssuer.clock.advance(TIMES.rotation);
  await Promise.all(
    tokenIssuer.running.flatMap(({ issuer }) => issuer.chores.map(({ run }) => run())),
  );
  expect(await tokenIssuer.stores.tokenKeys.list()).toHaveLength(4);
});
