import { beforeAll, describe, expect, test } from '@jest/globals';
import { blindRsaPublicKey, verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';
import { RESPONSE_TYPE } from '#shared/private-token/issuer-directory.ts';
import { parseToken } from '#shared/private-token/token.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import { evaluate } from '#shared/private-token/voprf.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { Failure } from '../arguments/command.ts';
import type { Reply, Message, Send } from '#shared/client/send.ts';
import { obtainTokens } from './obtain.ts';
import { blindRsaKey, issue } from './parties.fixture.ts';

const REQUEST = 'https://issuer.example/request';
const digest = Buffer.alloc(32, 5);
const voprf = generateVoprfKey();
let keys: Record<'blind-rsa-2048' | 'voprf-p384', TokenKeyPair>;
beforeAll(async () => {
  keys = { 'blind-rsa-2048': await blindRsaKey(), 'voprf-p384': voprf };
});

const nobody = async () => {
  throw new Error('nobody is asked');
};

/** An issuer that admits every request, and changes its answers as a test says. */
async function obtained(
  key: TokenKeyPair,
  count: number,
  change: (right: Reply) => Reply = (right) => right,
  issuing = key,
) {
  const sent: Message[] = [];
  const send: Send = async (message) => {
    sent.push(message);
    const { status = 200, fields = {}, body } = issue([issuing], Buffer.from(message.body ?? ''));
    return change({ status, fields, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) });
  };
  const order = { requestUrl: REQUEST, key, digest, count };
  const tokens: Buffer[] = [];
  for await (const token of obtainTokens(send, order, nobody, systemRandom)) tokens.push(token);
  return { tokens, sent };
}

const TYPES = ['blind-rsa-2048', 'voprf-p384'] as const;

describe.each(TYPES)('RFC 9578 sections 5 and 6: %s', (type) => {
  test('each token for the challenge has its own nonce, and the issuer has not seen the token', async () => {
    const key = keys[type];
    const { tokens, sent } = await obtained(key, 3);
    const parsed = tokens.map((token) => parseToken(token));
    expect(new Set(parsed.map((token) => token?.nonce.toString('hex'))).size).toBe(3);
    for (const [index, token] of parsed.entries()) {
      if (token === undefined) throw new Error('not a token');
      expect(token).toMatchObject({ type: key.type, challengeDigest: digest, keyId: key.id });
      const rsa = blindRsaPublicKey(key.publicKey);
      const right = rsa
        ? verifyBlindRsa(rsa, token.input, token.authenticator)
        : evaluate(key.privateKey, token.input).equals(token.authenticator);
      expect(right).toBe(true);

      const { fields, body } = sent[index] ?? {};
      const content = Buffer.from(body ?? '');
      expect(parseTokenRequest(content)).toMatchObject({ truncatedKeyId: key.id.at(-1) });
      for (const part of [token.nonce, digest, token.keyId, token.authenticator]) {
        expect(content.includes(part)).toBe(false);
      }
      expect(fields).toEqual({
        'content-type': 'application/private-token-request',
        accept: 'application/private-token-response',
      });
    }
  });

  test.each<[string, (right: Reply) => Reply]>([
    ['nothing', (right) => ({ ...right, body: Buffer.alloc(0) })],
    ['cut off', (right) => ({ ...right, body: right.body.subarray(0, -1) })],
    ['an octet more', (right) => ({ ...right, body: Buffer.concat([right.body, Buffer.of(0)]) })],
    ['zeros', (right) => ({ ...right, body: Buffer.alloc(right.body.length) })],
    ['ones', (right) => ({ ...right, body: Buffer.alloc(right.body.length, 0xff) })],
    ['random', (right) => ({ ...right, body: systemRandom(right.body.length) })],
    ['its first bit flipped', (right) => ({ ...right, body: flipped(right.body, 0) })],
    [
      'its last bit flipped',
      (right) => ({ ...right, body: flipped(right.body, right.body.length - 1) }),
    ],
    [
      'a redirect',
      (right) => ({ ...right, status: 307, fields: { location: 'https://evil.example/' } }),
    ],
    ['201', (right) => ({ ...right, status: 201 })],
    ['another type', (right) => ({ ...right, fields: { 'content-type': 'application/json' } })],
    ['no type', (right) => ({ ...right, fields: {} })],
  ])('RFC 9578 sections 5.3 and 6.3: an answer that is %s gives no token', async (_, change) => {
    await expect(obtained(keys[type], 1, change)).rejects.toBeInstanceOf(Failure);
  });

  test('the answer to another request gives no token', async () => {
    let earlier: Reply | undefined;
    const again = (right: Reply) => (earlier ??= right);
    await expect(obtained(keys[type], 2, again)).rejects.toThrow('has not signed');
  });
});

test('RFC 9576 section 6.2: an issuer with a separate key for one person is detected', async () => {
  const other = generateVoprfKey();
  const { privateKey, publicKey } = other;
  const secret = { ...voprf, privateKey, publicKey };
  await expect(obtained(voprf, 1, undefined, secret)).rejects.toThrow(
    'the published key has not signed',
  );
  const proofOfItsOwn = { ...voprf, privateKey };
  await expect(obtained(voprf, 1, undefined, proofOfItsOwn)).rejects.toThrow('has not signed');
});

test.each([
  [403, {}, 'may not have tokens'],
  [422, {}, 'run the command again'],
  [429, { 'retry-after': '7' }, 'try again in 7 s'],
  [503, { 'retry-after': 'soon' }, `${REQUEST} answers 503`],
])('an answer %i gives advice', async (status, fields, message) => {
  const refused = obtained(voprf, 1, (right) => ({ ...right, status, fields }));
  await expect(refused).rejects.toThrow(message);
});

test('if a request fails, earlier tokens are kept', async () => {
  const got: Buffer[] = [];
  let left = 2;
  const send: Send = async ({ body }) => {
    const reply = issue([voprf], Buffer.from(body ?? ''));
    const content = Buffer.isBuffer(reply.body) ? reply.body : Buffer.alloc(0);
    left -= 1;
    return {
      status: left < 0 ? 500 : 200,
      fields: { 'content-type': RESPONSE_TYPE },
      body: content,
    };
  };
  const order = { requestUrl: REQUEST, key: voprf, digest, count: 5 };
  const all = async () => {
    for await (const token of obtainTokens(send, order, nobody, systemRandom)) got.push(token);
  };
  await expect(all()).rejects.toThrow('answers 500');
  expect(got).toHaveLength(2);
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
