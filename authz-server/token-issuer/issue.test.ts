/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { REQUEST_TYPE } from '#shared/private-token/issuer-directory.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import {
  startTokenIssuer,
  tokenRequest,
  TYPES,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer({ limits: { privateTokens: { burst: 10_000, per: 1 } } });
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const good = async (type: TokenType = VOPRF) => tokenRequest(await tokenIssuer.currentKey(type));
const bearer = (token: string) => ['Authorization', `Bearer ${token}`];
const OF_TYPE = ['Content-Type', REQUEST_TYPE];

test.each(TYPES)('RFC 9578 sections 5.2 and 6.2: a token of type %i is issued', async (type) => {
  const { body, token } = await good(type);
  const response = await tokenIssuer.request(body);
  expect([
    response.status,
    response.headers['content-type'],
    response.headers['cache-control'],
  ]).toEqual([200, 'application/private-token-response', 'no-store']);
  expect(token(response.body)).toHaveLength(type === VOPRF ? 146 : 354);
});

describe('content that is no valid token request', () => {
  test.each([
    [[]],
    [['Content-Type', 'application/octet-stream']],
    [['Content-Type', 'application/private-token-response']],
    [['Content-Type', `${REQUEST_TYPE};v=1`]],
    [['Content-Type', `${REQUEST_TYPE}, ${REQUEST_TYPE}`]],
    [[...OF_TYPE, 'Content-Encoding', 'gzip']],
    [[...OF_TYPE, 'Content-Encoding', 'identity']],
  ])('RFC 9110 section 15.5.16: a request with the fields %j gets 415', async (fields) => {
    const { body } = await good();
    const all = [...bearer(tokenIssuer.accessToken()), ...fields];
    expect((await tokenIssuer.request(body, { fields: all })).status).toBe(415);
  });

  test('a media type in upper case means the same', async () => {
    const { body } = await good();
    const fields = [
      ...bearer(tokenIssuer.accessToken()),
      'Content-Type',
      REQUEST_TYPE.toUpperCase(),
    ];
    expect((await tokenIssuer.request(body, { fields })).status).toBe(200);
  });

  test('a request with Content-Type twice gets 400', async () => {
    const { body } = await good();
    const fields = [...bearer(tokenIssuer.accessToken()), ...OF_TYPE, ...OF_TYPE];
    expect((await tokenIssuer.request(body, { fields })).status).toBe(400);
  });

  test('a wrong length gets 422 (RFC 9578 section 6.2), and far too long content gets 413 (RFC 9110 section 15.5.14)', async () => {
    const { body } = await good(BLIND_RSA);
    expect((await tokenIssuer.request(Buffer.concat([body, Buffer.of(0)]))).status).toBe(422);
    expect((await tokenIssuer.request(Buffer.alloc(1024))).status).toBe(422);
    for (const length of [1025, 1_000_000]) {
      expect((await tokenIssuer.request(Buffer.alloc(length))).status).toBe(413);
    }
  });

  test('content that is cut off, or has an additional octet, gets 422', async () => {
    const { body } = await good(VOPRF);
    for (let length = 0; length < body.length; length += 1) {
      expect([length, (await tokenIssuer.request(body.subarray(0, length))).status]).toEqual([
        length,
        422,
      ]);
    }
    expect((await tokenIssuer.request(Buffer.concat([body, Buffer.of(0)]))).status).toBe(422);
  });

  test.each([0, 3, 0xda7a, 0xffff, 0x0100, 0x0200])(
    'a request for the token type %i gets 422',
    async (type) => {
      const { body } = await good();
      body.writeUInt16BE(type);
      expect((await tokenIssuer.request(body)).status).toBe(422);
    },
  );

  test('a request whose type does not match its content gets 422', async () => {
    const [one, other] = [(await good(VOPRF)).body, (await good(BLIND_RSA)).body];
    one.writeUInt16BE(BLIND_RSA);
    other.writeUInt16BE(VOPRF);
    expect((await tokenIssuer.request(one)).status).toBe(422);
    expect((await tokenIssuer.request(other)).status).toBe(422);
  });

  test('every wrong truncated key id gets 422', async () => {
    const { body } = await good();
    const right = body[2];
    for (let id = 0; id < 256; id += 1) {
      if (id === right) continue;
      body[2] = id;
      expect([id, (await tokenIssuer.request(body)).status]).toEqual([id, 422]);
    }
  });

  test('RFC 9474 section 4.3: a message that is not below the modulus gets 422', async () => {
    const { body } = await good(BLIND_RSA);
    const { publicKey } = await tokenIssuer.currentKey(BLIND_RSA);
    // The modulus is in the SPKI before the exponent 65537, which has five octets with its header.
    publicKey.copy(body, 3, publicKey.length - 5 - 256, publicKey.length - 5);
    expect((await tokenIssuer.request(body)).status).toBe(422);
    body.fill(0xff, 3);
    expect((await tokenIssuer.request(body)).status).toBe(422);
  });

  test('RFC 9497 section 2.1: octets that are no element get 422', async () => {
    const { body } = await good();
    for (const octet of [0, 1, 4, 6, 0xff]) {
      body[3] = octet;
      expect([octet, (await tokenIssuer.request(body)).status]).toEqual([octet, 422]);
    }
    expect(
      (await tokenIssuer.request(Buffer.concat([body.subarray(0, 3), Buffer.alloc(49)]))).status,
    ).toBe(422);
  });
});

test.each(TYPES)(
  'a request of type %i with any octet flipped gets 422 or an answer that gives no token, never a 500',
  async (type) => {
    const { body, token } = await good(type);
    for (let at = 0; at < body.length; at += 1) {
      const flipped = Buffer.from(body);
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      const response = await tokenIssuer.request(flipped);
      expect([200, 422]).toContain(response.status);
      if (at < 3) expect(response.status).toBe(422);
      if (response.status === 200) expect(token(response.body)).toBeUndefined();
    }
  },
);

test('any content gets 413 or 422', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      const { status } = await tokenIssuer.request(bytes);
      return status === (bytes.length > 259 ? 413 : 422);
    }),
    { numRuns: 100 },
  );
});

test('RFC 9576 section 5: the log has the client, and no part of the request or token', async () => {
  for (const type of TYPES) {
    const { body, token } = await good(type);
    const response = await tokenIssuer.request(body);
    const made = token(response.body) ?? Buffer.alloc(0);
    const log = tokenIssuer.log();
    expect(log).toContain('"client":"app"');
    expect(log).not.toContain('alice');
    const parts = [
      body,
      body.subarray(3),
      response.body,
      made,
      made.subarray(2, 34),
      made.subarray(98),
    ];
    for (const part of parts) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(log).not.toContain(part.toString(encoding).slice(0, 16));
      }
    }
  }
});

test('if the store does not answer, the answer is 503 without a token', async () => {
  const { body } = await good();
  await tokenIssuer.stores[Symbol.asyncDispose]();
  const { status, headers } = await tokenIssuer.request(body);
  expect([status, headers['retry-after'], headers['access-control-allow-origin']]).toEqual([
    503,
    '1',
    '*',
  ]);
});

test('the endpoint is found by its path only', async () => {
  const { body } = await good();
  expect((await tokenIssuer.request(body, { path: '/private-token/request?x=1' })).status).toBe(
    200,
  );
  expect((await tokenIssuer.request(body, { path: '/private-token/request/' })).status).toBe(404);
});
