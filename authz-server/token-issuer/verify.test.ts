/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { TOKEN_MEDIA_TYPE } from '#shared/private-token/verification.ts';
import {
  DOCUMENTS,
  REQUEST,
  startTokenIssuer,
  validity,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

const BURST = 200;
let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer({ limits: { verifications: { burst: BURST, per: 60 } } });
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const obtained = async () => tokenIssuer.obtain(await tokenIssuer.currentKey(VOPRF));
let made: Promise<Buffer> | undefined;
/** All tests share this token, which is valid at each of their issuers, since these have the same key. */
const good = async () => Buffer.from(await (made ??= obtained()));

test('RFC 9578 section 5.4: a token of this issuer is valid in each verification', async () => {
  const token = await good();
  for (let asked = 0; asked < 2; asked += 1) {
    const { status, headers, body } = await tokenIssuer.verify(token);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(body.toString()).toBe('{"valid":true}');
  }
});

test('a token with an octet of any field flipped is not valid, or is no token of type 1', async () => {
  const token = await good();
  for (const at of [0, 1, 2, 33, 34, 65, 66, 97, 98, 145]) {
    const flipped = Buffer.from(token);
    flipped[at] = (flipped[at] ?? 0) ^ 0x01;
    const answer = await tokenIssuer.verify(flipped);
    if (at < 2) expect([at, answer.status]).toEqual([at, 422]);
    else expect([at, answer.status, validity(answer)]).toEqual([at, 200, false]);
  }
});

test('a token that is cut off, or has an additional octet, gets 422', async () => {
  const token = await good();
  for (let length = 0; length < token.length; length += 1) {
    expect([length, (await tokenIssuer.verify(token.subarray(0, length))).status]).toEqual([
      length,
      422,
    ]);
  }
  expect((await tokenIssuer.verify(Buffer.concat([token, Buffer.of(0)]))).status).toBe(422);
});

test('RFC 9578 section 6.4: a publicly verifiable token gets 422, valid or not', async () => {
  const token = await tokenIssuer.obtain(await tokenIssuer.currentKey(BLIND_RSA));
  expect((await tokenIssuer.verify(token)).status).toBe(422);
  token.writeUInt16BE(VOPRF);
  expect((await tokenIssuer.verify(token)).status).toBe(422);
});

test('a token of another issuer is not valid', async () => {
  const other = await startTokenIssuer({}, { newKeys: true });
  try {
    const token = await other.obtain(await other.currentKey(VOPRF));
    expect(validity(await tokenIssuer.verify(token))).toBe(false);
    const { id } = await tokenIssuer.currentKey(VOPRF);
    id.copy(token, 66);
    expect(validity(await tokenIssuer.verify(token))).toBe(false);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('the authenticator of one token with the nonce of another is not valid', async () => {
  const [one, other] = [await obtained(), await obtained()];
  other.copy(one, 98, 98);
  expect(validity(await tokenIssuer.verify(one))).toBe(false);
});

test.each([
  [[]],
  [['Content-Type', 'application/private-token-request']],
  [['Content-Type', `${TOKEN_MEDIA_TYPE}; charset=binary`]],
  [['Content-Type', TOKEN_MEDIA_TYPE, 'Content-Encoding', 'gzip']],
])('RFC 9110 section 15.5.16: a request with the fields %j gets 415', async (fields) => {
  const all = ['Authorization', `Bearer ${tokenIssuer.serverToken()}`, ...fields];
  expect((await tokenIssuer.verify(await good(), { fields: all })).status).toBe(415);
});

test('a wrong length gets 422, and far too long content gets 413 (RFC 9110 section 15.5.14)', async () => {
  expect((await tokenIssuer.verify(Buffer.alloc(1024))).status).toBe(422);
  expect((await tokenIssuer.verify(Buffer.alloc(1025))).status).toBe(413);
});

test('any content gets 200 with false, 413 or 422', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 1030 }), async (bytes) => {
      const { status } = await tokenIssuer.verify(bytes);
      return status === (bytes.length > 1024 ? 413 : 422);
    }),
    { numRuns: 60 },
  );
  const body = fc.uint8Array({ minLength: 144, maxLength: 144 });
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      const answer = await tokenIssuer.verify(Buffer.concat([Buffer.of(0, VOPRF), bytes]));
      return answer.status === 200 && validity(answer) === false;
    }),
    { numRuns: 60 },
  );
});

describe('only resource servers may verify tokens', () => {
  test.each<[string, number, object]>([
    ['of a person who may request', 401, { aud: REQUEST, scope: 'private-token' }],
    ['of the request endpoint with the right scope', 401, { aud: REQUEST }],
    ['of the resource server', 401, { aud: DOCUMENTS }],
    ['with the scope of requests alone', 403, { scope: 'private-token' }],
    ['without a scope', 403, { scope: '' }],
  ])('an access token %s gets %i', async (_, status, claims) => {
    const token = tokenIssuer.serverToken(claims);
    expect((await tokenIssuer.verify(await good(), { token })).status).toBe(status);
  });

  test('a revoked client gets 401 from the next request on', async () => {
    const token = tokenIssuer.serverToken();
    expect((await tokenIssuer.verify(await good(), { token })).status).toBe(200);
    await tokenIssuer.stores.revocations.raise('client', 'resource-server', tokenIssuer.until());
    expect((await tokenIssuer.verify(await good(), { token })).status).toBe(401);
  });
});

describe('RFC 6585 section 4: the rate of a client', () => {
  test('a request over the rate gets 429 with Retry-After, which affects only that client', async () => {
    const token = Buffer.concat([Buffer.of(0, VOPRF), Buffer.alloc(144)]);
    for (let spent = 0; spent < BURST; spent += 1) await tokenIssuer.verify(token);
    const { status, headers } = await tokenIssuer.verify(token);
    expect([status, headers['retry-after']]).toEqual([429, '60']);
    const other = tokenIssuer.serverToken({ client_id: 'another', sub: 'another' });
    expect((await tokenIssuer.verify(token, { token: other })).status).toBe(200);
  });
});

test('RFC 9576 section 5: the log names the resource server, and contains no part of the token', async () => {
  const token = await good();
  await tokenIssuer.verify(token);
  await tokenIssuer.verify(token.fill(7, 98));
  const log = tokenIssuer.log();
  expect(log).toContain('"client":"resource-server"');
  for (const part of [
    token.subarray(2),
    token.subarray(34),
    token.subarray(66),
    token.subarray(98),
  ]) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(log).not.toContain(part.toString(encoding).slice(0, 16));
    }
  }
});
