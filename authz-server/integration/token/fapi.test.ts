/** THE rules of a client with the FAPI 2.0 Security Profile (base/fapi.ts), and attempts to get around them. */
import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CryptoKey,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from 'jose';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { storedId } from '../../engine/storage/stored-id.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { CALLBACK, sent, SERVER, type TestFlow, testFlow, VERIFIER } from '../code-flow.fixture.ts';
import type { Answered } from '../authz.fixture.ts';

interface Key {
  readonly alg: string;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

async function newKey(alg = 'ES256'): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, jwk: await exportJWK(publicKey), privateKey };
}

const now = () => Math.floor(Date.now() / 1000);
const tokenOf = ({ body }: Answered) => String(body['refresh_token']);
const refused = ({ status, body }: Answered) => [status, body['error']];

let flow: TestFlow;
let browser: TestBrowser;
let keys: Readonly<Record<'ES256' | 'PS256' | 'EdDSA' | 'other', Key>>;
let dpop: Key;
beforeAll(async () => {
  // An older audience is allowed for other clients.
  flow = await testFlow({ tokens: { assertionAudience: 'endpoint', refreshGrace: 0 } });
  keys = {
    ES256: await newKey(),
    PS256: await newKey('PS256'),
    EdDSA: await newKey('Ed25519'),
    other: await newKey(),
  };
  dpop = await newKey();
  const { secret_hash: _, ...server } = SERVER;
  const bank: ClientRecord = {
    ...server,
    client_id: 'bank',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [keys.ES256, keys.PS256, keys.EdDSA].map(({ jwk }) => jwk) },
    profile: 'fapi2',
    scope: `${server.scope} rsa`,
    pkce: 'off', // the command line refuses it
  };
  await flow.stores.clients.add(bank);
  await flow.stores.clients.add({ ...bank, client_id: 'other', jwks: { keys: [keys.other.jwk] } });
  browser = await flow.signedIn();
});
afterAll(async () => flow?.[Symbol.asyncDispose]());

async function asserted(
  claims: Record<string, unknown> = {},
  { key = keys.ES256, alg, id = 'bank' }: { key?: Key; alg?: string; id?: string } = {},
) {
  const usual = { iss: id, sub: id, aud: flow.config.issuer, jti: randomUUID(), exp: now() + 60 };
  const client_assertion = await new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: alg ?? key.alg })
    .sign(key.privateKey);
  return {
    client_id: id,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion,
  };
}

async function proof(path: string, { alg, jwk, privateKey } = dpop) {
  const claims = {
    htm: 'POST',
    htu: `${flow.config.issuer}${path}`,
    jti: randomUUID(),
    iat: now(),
  };
  const header = { typ: 'dpop+jwt', alg, jwk };
  return { DPoP: await new SignJWT(claims).setProtectedHeader(header).sign(privateKey) };
}

const REQUEST = {
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'openid documents:read',
  state: 'the state',
  code_challenge: hash('sha256', VERIFIER, 'base64url'),
  code_challenge_method: 'S256',
};

/** Pushes the usual request with other parameters; '' removes one. */
async function push(parameters: Record<string, string> = {}, fields: Record<string, string> = {}) {
  const form = { ...REQUEST, ...(await asserted()), ...parameters };
  const sendable = Object.entries(form).filter(([, value]) => value !== '');
  return flow.post('/request', Object.fromEntries(sendable), fields);
}

async function newCode(): Promise<string> {
  const { body } = await push();
  const request_uri = String(body['request_uri']);
  const query = new URLSearchParams({ client_id: 'bank', request_uri });
  const page = await browser.open(`${flow.config.issuer}/auth?${query.toString()}`);
  const answer = sent(
    page.status === 200 ? await browser.submit(page, { decision: 'allow' }) : page,
  );
  expect(answer.get('iss')).toBe(flow.config.issuer);
  return answer.get('code') ?? '';
}

async function redeem(code: string, fields: Record<string, string>) {
  return flow.redeem(code, await asserted(), fields);
}

async function refresh(token: string, fields: Record<string, string>) {
  return flow.refresh(token, await asserted(), fields);
}

describe('section 5.3.2.2: an authorization request', () => {
  test('that is not pushed is refused', async () => {
    const answer = sent(await browser.open(flow.authorize({ client_id: 'bank' })));
    expect([answer.get('error'), answer.get('code')]).toEqual(['invalid_request', null]);
  });

  test.each([
    ['PKCE, whatever the record says', { code_challenge: '', code_challenge_method: '' }],
    ['S256', { code_challenge_method: 'plain' }],
    ['redirect_uri, though one is registered', { redirect_uri: '' }],
  ])('that is pushed without %s is refused', async (_what, parameters) => {
    expect(refused(await push(parameters))).toEqual([400, 'invalid_request']);
  });

  test('cannot be taken by another client', async () => {
    const { body } = await push();
    const request_uri = String(body['request_uri']);
    const query = new URLSearchParams({ client_id: 'other', request_uri });
    const page = await browser.open(`${flow.config.issuer}/auth?${query.toString()}`);
    expect(page.headers.get('location') ?? '').not.toContain('code=');
  });

  test('is answered without the status 307, with which a browser would send a password on', async () => {
    const { body } = await push();
    const stranger = flow.browser();
    const query = new URLSearchParams({
      client_id: 'bank',
      request_uri: String(body['request_uri']),
    });
    const began = await stranger.request('GET', `/auth?${query.toString()}`);
    expect(began.status).toBe(303);
    const page = await stranger.follow(began);
    const answered = await stranger.send(page, {
      name: 'alice',
      password: 'correct horse battery',
    });
    expect(answered.status).toBe(303);
  });
});

describe('section 5.3.2.1: tokens are bound to a key', () => {
  test('a code gives no token without a proof, and is not used up', async () => {
    const code = await newCode();
    expect(refused(await redeem(code, {}))).toEqual([400, 'invalid_request']);
    const { status, body } = await redeem(code, await proof('/token'));
    expect([status, body['token_type']]).toEqual([200, 'DPoP']);
    expect(decodeJwt(String(body['access_token']))).toHaveProperty('cnf.jkt');
    const [header = ''] = String(body['id_token']).split('.');
    expect(JSON.parse(atob(header))).toMatchObject({ alg: 'ES256' });
  });

  test('a code that is bound to a key by the pushed request needs this key (RFC 9449 section 10)', async () => {
    const pushed = await push({}, await proof('/request'));
    const query = new URLSearchParams({
      client_id: 'bank',
      request_uri: String(pushed.body['request_uri']),
    });
    const page = await browser.open(`${flow.config.issuer}/auth?${query.toString()}`);
    const code = sent(page).get('code') ?? '';
    expect(refused(await redeem(code, await proof('/token', await newKey())))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect((await redeem(code, await proof('/token'))).status).toBe(200);
  });

  test('a proof of RS256 is refused, also for a pushed request', async () => {
    const rsa = await newKey('RS256');
    expect(refused(await redeem(await newCode(), await proof('/token', rsa)))).toEqual([
      400,
      'invalid_dpop_proof',
    ]);
    expect(refused(await push({}, await proof('/request', rsa)))).toEqual([
      400,
      'invalid_dpop_proof',
    ]);
  });

  test('a refresh without a proof is refused, and a token of the other client', async () => {
    const token = tokenOf(await redeem(await newCode(), await proof('/token')));
    expect(refused(await refresh(token, {}))).toEqual([400, 'invalid_request']);
    const other = await asserted({}, { key: keys.other, id: 'other' });
    expect(refused(await flow.refresh(token, other, await proof('/token')))).toEqual([
      400,
      'invalid_grant',
    ]);
    expect((await refresh(token, await proof('/token'))).status).toBe(200);
  });

  test('RFC 9449 section 5: a refresh with another key gives a token of that key', async () => {
    const code = await redeem(await newCode(), await proof('/token'));
    const key = await newKey();
    const { status, body } = await refresh(tokenOf(code), await proof('/token', key));
    const [before, after] = [code.body, body].map((answer) =>
      decodeJwt<{ cnf?: { jkt: string } }>(String(answer['access_token'])),
    );
    expect([status, typeof after?.cnf?.jkt]).toEqual([200, 'string']);
    expect(after?.cnf?.jkt).not.toBe(before?.cnf?.jkt);
  });
});

test('section 5.3.2.1: a refresh token is not replaced, and each use prolongs it', async () => {
  const token = tokenOf(await redeem(await newCode(), await proof('/token')));
  const id = storedId('RefreshToken', token);
  const stored = () => flow.stores.artefacts.get('RefreshToken', id);
  const payload = { ...(await stored()), exp: now() + 60 };
  await flow.stores.artefacts.put({ kind: 'RefreshToken', id, payload, seconds: 60 });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => refresh(token, await proof('/token'))),
  );
  for (const answer of answers) expect([answer.status, tokenOf(answer)]).toEqual([200, token]);
  expect(Number((await stored())?.['exp'])).toBeGreaterThan(now() + 3000);
});

test('a refresh token that was revoked is refused, though it is not replaced', async () => {
  const token = tokenOf(await redeem(await newCode(), await proof('/token')));
  const gone = await flow.post('/token/revocation', { ...(await asserted()), token });
  expect(gone.status).toBe(200);
  expect(refused(await refresh(token, await proof('/token')))).toEqual([400, 'invalid_grant']);
});

test('section 5.4.1: a resource whose tokens are signed with RS256 is not open to it', async () => {
  const rsa = { resource: 'https://rsa.example/', scope: 'openid rsa' };
  expect(refused(await push(rsa))).toEqual([400, 'invalid_target']);
});

describe('assertions', () => {
  test.each(['ES256', 'PS256', 'EdDSA'] as const)('are accepted with %s', async (name) => {
    const form = await asserted({}, { key: keys[name] });
    expect((await push(form)).status).toBe(201);
  });

  test('are accepted from 8 s in the future (section 5.3.2.1), though tokens.skew is 5', async () => {
    const soon = now() + 8;
    expect((await push(await asserted({ iat: soon, nbf: soon }))).status).toBe(201);
  });

  test.each<[string, () => Record<string, unknown>, { alg?: string; key?: Key }?]>([
    ['of RS256 (section 5.4.1)', () => ({}), { alg: 'RS256' }],
    ['for the token endpoint', () => ({ aud: `${flow.config.issuer}/token` })],
    ['for the pushed request', () => ({ aud: `${flow.config.issuer}/request` })],
    ['for the issuer in a list', () => ({ aud: [flow.config.issuer] })],
    ['for the issuer and others', () => ({ aud: [flow.config.issuer, 'https://evil.example'] })],
    ['without a subject', () => ({ sub: undefined })],
    ['that expired', () => ({ exp: now() - 300 })],
    ['of the future', () => ({ iat: now() + 70 })],
  ])('are refused: one %s, at each endpoint', async (_what, claims, how = {}) => {
    const key =
      how.alg === 'RS256' ? { ...keys.PS256, privateKey: await rs256(keys.PS256) } : keys.ES256;
    for (const path of ['/request', '/token', '/token/revocation', '/token/introspection']) {
      const form = await asserted(claims(), { key, ...how });
      const answer = await flow.post(path, { ...REQUEST, grant_type: 'x', token: 'x', ...form });
      expect([path, ...refused(answer)]).toEqual([path, 401, 'invalid_client']);
    }
  });

  test('are refused with a secret beside them, or a secret in their place', async () => {
    const { client_assertion: _, client_assertion_type: __, ...named } = await asserted();
    const answer = await push({
      ...named,
      client_secret: 'x',
      client_assertion: '',
      client_assertion_type: '',
    });
    expect(refused(answer)).toEqual([401, 'invalid_client']);
  });
});

/** Imports the private key for the older algorithm. */
async function rs256({ privateKey }: Key): Promise<CryptoKey> {
  const { alg: _, ...jwk } = await exportJWK(privateKey);
  return (await importJWK(jwk, 'RS256')) as CryptoKey;
}
