/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import { REQUEST_TYPE } from '#shared/private-token/issuer-directory.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import {
  AS,
  DOCUMENTS,
  startTokenIssuer,
  tokenRequest,
  VERIFY,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer();
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const good = async () => tokenRequest(await tokenIssuer.currentKey(VOPRF));
const bearer = (token: string) => ['Authorization', `Bearer ${token}`];
const OF_TYPE = ['Content-Type', REQUEST_TYPE];

describe('RFC 6750 section 3: without a valid access token no token is issued', () => {
  const errorsOf = (field = '') =>
    Object.fromEntries(
      (parseChallenges(field) ?? []).map(({ scheme, params }) => [scheme, params?.['error']]),
    );

  test.each<[string, object, object]>([
    ['of the resource server', { aud: DOCUMENTS }, {}],
    ['of the verification', { aud: VERIFY, scope: 'private-token private-token:verify' }, {}],
    ['of the issuer as a whole', { aud: AS }, {}],
    ['of another issuer', { iss: 'https://other.example' }, {}],
    ['of another epoch', { epoch: 'x' }, {}],
    ['an ID token', {}, { typ: 'JWT' }],
    ['unsigned', {}, { alg: 'none' }],
    ['of an unknown key', {}, { kid: 'k2' }],
    ['bound to a key, sent as Bearer', { cnf: { jkt: 'x' } }, {}],
  ])('an access token that is %s gets invalid_token', async (_, claims, header) => {
    const { body } = await good();
    const token = tokenIssuer.accessToken(claims, header);
    const { status, headers } = await tokenIssuer.request(body, { token });
    expect([status, errorsOf(headers['www-authenticate'])]).toMatchObject([
      401,
      { Bearer: 'invalid_token' },
    ]);
  });

  test('an access token that is expired or signed by another key is refused', async () => {
    const { body } = await good();
    const forged = tokenIssuer.accessToken({}, {}, GENERATE.ES256().privateKey);
    expect((await tokenIssuer.request(body, { token: forged })).status).toBe(401);
    const token = tokenIssuer.accessToken();
    tokenIssuer.clock.advance(605);
    expect((await tokenIssuer.request(body, { token })).status).toBe(401);
  });

  test.each(['', 'openid', 'private-token:verify', 'private-token2', 'PRIVATE-TOKEN'])(
    'RFC 6750 section 3.1: an access token with the scope %j gets 403',
    async (scope) => {
      const { body } = await good();
      const { status, headers } = await tokenIssuer.request(body, {
        token: tokenIssuer.accessToken({ scope }),
      });
      expect([status, errorsOf(headers['www-authenticate'])]).toEqual([
        403,
        { Bearer: 'insufficient_scope' },
      ]);
    },
  );

  test.each<[string, () => Promise<unknown>]>([
    ['token', () => tokenIssuer.stores.revocations.revoke('token', 'the-one', tokenIssuer.until())],
    ['grant', () => tokenIssuer.stores.revocations.revoke('grant', 'g1', tokenIssuer.until())],
    ['key', () => tokenIssuer.stores.revocations.revoke('key', 'k1', tokenIssuer.until())],
    ['client', () => tokenIssuer.stores.revocations.raise('client', 'app', tokenIssuer.until())],
    [
      'person',
      () => tokenIssuer.stores.revocations.raise('person', 'alice-id', tokenIssuer.until()),
    ],
  ])('a revocation of the %s takes effect for the next request', async (_, revoke) => {
    const { body } = await good();
    const token = tokenIssuer.accessToken({ jti: 'the-one' });
    expect((await tokenIssuer.request(body, { token })).status).toBe(200);
    await revoke();
    expect((await tokenIssuer.request(body, { token })).status).toBe(401);
  });

  test('a request with two Authorization fields, or with Bearer and DPoP, gets 400', async () => {
    const { body } = await good();
    const token = bearer(tokenIssuer.accessToken());
    for (const second of [token, ['Authorization', `DPoP ${tokenIssuer.accessToken()}`]]) {
      const fields = [...token, ...second, ...OF_TYPE];
      expect((await tokenIssuer.request(body, { fields })).status).toBe(400);
    }
  });

  test('without credentials the answer is 401, and says nothing about the content', async () => {
    const fields = ['Content-Type', 'text/plain', 'Content-Encoding', 'gzip'];
    expect((await tokenIssuer.request(Buffer.alloc(9999), { fields })).status).toBe(401);
  });
});

describe('RFC 9449: access tokens that are bound to a key', () => {
  const dpop = (token: string, proof: string) =>
    ['Authorization', `DPoP ${token}`, 'DPoP', proof].concat(OF_TYPE);

  test('a proof for this request is accepted once', async () => {
    const { body } = await good();
    const token = tokenIssuer.accessToken({ cnf: { jkt: tokenIssuer.jkt } });
    const fields = dpop(token, tokenIssuer.proof(token));
    expect((await tokenIssuer.request(body, { fields })).status).toBe(200);
    expect((await tokenIssuer.request(body, { fields })).status).toBe(401);
  });

  test('if ten requests use the same proof at the same time, one is accepted', async () => {
    const { body } = await good();
    const token = tokenIssuer.accessToken({ cnf: { jkt: tokenIssuer.jkt } });
    const fields = dpop(token, tokenIssuer.proof(token));
    const all = await Promise.all(
      Array.from({ length: 10 }, async () => (await tokenIssuer.request(body, { fields })).status),
    );
    expect(all.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(401)]);
  });

  test.each<[string, object]>([
    ['for another method', { htm: 'GET' }],
    ['for the verification', { htu: VERIFY }],
    ['for the same path of another origin', { htu: `${AS}/private-token/request` }],
    ['for another token', { ath: 'x' }],
    ['of another time', { iat: 0 }],
  ])('a proof %s gets 401', async (_, claims) => {
    const { body } = await good();
    const token = tokenIssuer.accessToken({ cnf: { jkt: tokenIssuer.jkt } });
    const fields = dpop(token, tokenIssuer.proof(token, claims));
    expect((await tokenIssuer.request(body, { fields })).status).toBe(401);
  });

  test('a bound token that is sent as Bearer gets 401, even with its proof', async () => {
    const { body } = await good();
    const token = tokenIssuer.accessToken({ cnf: { jkt: tokenIssuer.jkt } });
    const fields = [...bearer(token), 'DPoP', tokenIssuer.proof(token), ...OF_TYPE];
    expect((await tokenIssuer.request(body, { token })).status).toBe(401);
    expect((await tokenIssuer.request(body, { fields })).status).toBe(401);
  });
});

test('an access token that is revoked while the request arrives slowly gets no token', async () => {
  const { clock, stores, running, accessToken } = tokenIssuer;
  const { body } = await good();
  const { status, text } = await sendSlowly(
    {
      url: `http://127.0.0.1:${running[0]?.port}/private-token/request`,
      headers: {
        host: 'tokens.example',
        authorization: `Bearer ${accessToken({ jti: 'slow' })}`,
        'content-type': REQUEST_TYPE,
      },
      content: body,
    },
    async () => {
      clock.advance(1);
      await stores.revocations.revoke('token', 'slow', clock.now() + 1e6);
    },
  );
  expect([status, text]).toEqual([403, expect.stringContaining('revoked meanwhile')]);
});
