import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { GENERATE, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { MODES, type Refusing, startRefusing } from './refusing.fixture.ts';

type Fields = Readonly<Record<string, string>>;

describe.each(MODES)('in %s', (_mode, origins) => {
  const { issuer, resource } = origins;
  const documents = `${resource}/documents/`;
  const key = GENERATE.ES256();
  const jwk = publicJwk(key.publicKey);
  const jkt = createHash('sha256')
    .update(JSON.stringify({ crv: jwk['crv'], kty: jwk['kty'], x: jwk['x'], y: jwk['y'] }))
    .digest('base64url');
  let at: Refusing;
  beforeAll(async () => {
    at = await startRefusing(origins);
  });
  afterAll(() => at[Symbol.asyncDispose]());

  const send: Refusing['send'] = (...asked) => at.send(...asked);
  const token: Refusing['token'] = (claims) => at.token(claims);
  const expectTold: Refusing['expectTold'] = (...told) => at.expectTold(...told);

  function proof(accessToken: string, claims: object = {}, by = key): string {
    const made = {
      jti: `proof-${systemRandom(9).toString('hex')}`,
      htm: 'GET',
      htu: `${documents}a`,
      iat: at.rs.now(),
      ath: createHash('sha256').update(accessToken).digest('base64url'),
    };
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk(by.publicKey) };
    return signJws(header, { ...made, ...claims }, by.privateKey);
  }
  const bound = (claims: object = {}) => token({ cnf: { jkt }, ...claims });
  const byProof = (access: string, dpop: string, path = '/documents/a') =>
    send(path, { Authorization: `DPoP ${access}`, DPoP: dpop });

  describe('an access token as Bearer', () => {
    const other = GENERATE.ES256();

    test.each<[string, () => string, string | RegExp]>([
      [
        'that has expired',
        () => token({ exp: at.rs.now() - 60 }),
        /^access token: expired at \d{4}-/,
      ],
      [
        'for another resource',
        () => token({ aud: `${resource}/dav/` }),
        `access token: aud is another resource: ${resource}/dav/, not ${documents}`,
      ],
      [
        'of another issuer',
        () => token({ iss: 'https://evil.example' }),
        `access token: iss is another issuer: https://evil.example, not ${issuer}`,
      ],
      ['that is bound to a key', () => bound(), 'access token: bound to a key, so it needs DPoP'],
      [
        'with a wrong signature',
        () => token().replace(/.{8}$/, 'AAAAAAAA'),
        'access token: signature is wrong',
      ],
      [
        'of an unknown key',
        () => signJws({ alg: 'ES256', typ: 'at+jwt', kid: 'k2' }, {}, other.privateKey),
        'access token: the issuer has no such key',
      ],
      ['that is no token', () => 'nonsense', 'access token: not three parts'],
      [
        'that is an ID token',
        () => signJws({ alg: 'ES256', typ: 'JWT', kid: 'k1' }, {}, other.privateKey),
        'access token: typ is not at+jwt',
      ],
    ])('an access token %s gets the reason', async (_what, one, reason) => {
      expectTold(await send('/documents/a', { Authorization: `Bearer ${one()}` }), 401, reason);
    });

    test('an access token that was revoked gets the reason', async () => {
      const one = token({ jti: 'revoked' });
      await at.rs.stores.revocations.revoke('token', 'revoked', at.rs.clock.now() + 700_000);
      const reply = await send('/documents/a', { Authorization: `Bearer ${one}` });
      expectTold(reply, 401, 'access token: revoked by token');
    });

    test('an access token in the query gets the reason', async () => {
      const reply = await send(`/documents/a?access_token=${token()}`);
      expectTold(reply, 401, 'access token in the query: send it in Authorization');
    });
  });

  test.each<[string, Fields, number, string]>([
    ['none', {}, 401, 'no credentials'],
    [
      'of another scheme',
      { Authorization: 'Basic YTpi' },
      401,
      'a scheme that the space does not have',
    ],
    [
      'without the name of a scheme',
      { Authorization: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' },
      401,
      'a token without a scheme: write Bearer before it',
    ],
    ['malformed', { Authorization: '"' }, 401, 'Authorization is not of the form of credentials'],
  ])('credentials get the reason: %s', async (_what, fields, status, reason) => {
    expectTold(await send('/documents/a', fields), status, reason);
  });

  describe('a DPoP proof', () => {
    const another = GENERATE.ES256();

    test.each<[string, (access: string) => string, string | RegExp]>([
      [
        'with a wrong signature',
        (access) => proof(access).replace(/.{8}$/, 'AAAAAAAA'),
        'DPoP proof: signature is wrong',
      ],
      [
        'for another method',
        (access) => proof(access, { htm: 'PUT' }),
        'DPoP proof: htm is another method than GET',
      ],
      [
        'for another address',
        (access) => proof(access, { htu: `${documents}b` }),
        `DPoP proof: htu is another URI than ${documents}a`,
      ],
      [
        'from another time',
        (access) => proof(access, { iat: at.rs.now() - 600 }),
        /^DPoP proof: iat is 600 s from the time here, not within \d+ s$/,
      ],
      [
        'for another token',
        (access) => proof(access, { ath: 'x' }),
        'DPoP proof: ath is the hash of another token',
      ],
      [
        'by another key',
        (access) => proof(access, {}, another),
        'DPoP proof: the token is bound to another key',
      ],
      [
        'without jti',
        (access) => proof(access, { jti: '' }),
        'DPoP proof: jti is not a string of 1 to 256 characters',
      ],
    ])('a DPoP proof %s gets the reason', async (_what, made, reason) => {
      const access = bound();
      expectTold(await byProof(access, made(access)), 401, reason);
    });

    test('a missing DPoP proof, a repeated proof and a proof for an unbound token each get their reason', async () => {
      const access = bound();
      const missing = await send('/documents/a', { Authorization: `DPoP ${access}` });
      expectTold(missing, 401, 'the field DPoP is missing');
      const once = proof(access);
      expect((await byProof(access, once)).status).toBe(404);
      expectTold(await byProof(access, once), 401, 'DPoP proof: jti was used before');
      const free = token();
      const unbound = await byProof(free, proof(free));
      expectTold(unbound, 401, 'access token: bound to no key, so it comes as Bearer');
    });

    test('a DPoP proof without a nonce, with a stale nonce and with a foreign nonce each get their reason', async () => {
      const access = bound({ aud: `${resource}/nonce/`, scope: 'nonce:read' });
      const ask = (claims: object) =>
        byProof(access, proof(access, { htu: `${resource}/nonce/a`, ...claims }), '/nonce/a');
      const first = await ask({});
      expectTold(first, 401, 'DPoP proof: nonce is missing');
      expectTold(await ask({ nonce: 'x' }), 401, 'DPoP proof: nonce is not of this space');
      const nonce = first.headers['dpop-nonce'];
      at.rs.clock.advance(400);
      const late = bound({ aud: `${resource}/nonce/`, scope: 'nonce:read' });
      const stale = proof(late, { htu: `${resource}/nonce/a`, nonce });
      expectTold(await byProof(late, stale, '/nonce/a'), 401, 'DPoP proof: nonce is stale');
    });
  });
});
