import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { base64url } from '#shared/jose/jws.fixture.ts';
import { startElsewhere } from './elsewhere.ts';
import type { Elsewhere } from './elsewhere.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { createForger } from './forge.ts';
import type { Forger } from './forge.ts';

/**
 * Tokens that are signed with the server's own key and wrong in one thing, at every endpoint that takes
 * tokens.
 */
type Members = Readonly<Record<string, unknown>>;

const now = Math.floor(Date.now() / 1000);
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const parts = new AsyncDisposableStack();
let pair: Pair;
let machine: { id: string; secret: string };
let genuine: string;
let forger: Forger;
let elsewhere: Elsewhere;

beforeAll(async () => {
  pair = parts.use(await startPair({ settings: { trustedProxies: ['127.0.0.1/32'] } }));
  machine = await pair.addClient();
  genuine = await pair.token(machine);
  forger = await createForger(pair, genuine);
  elsewhere = parts.use(await startElsewhere(foreignJwk));
});
afterAll(() => parts.disposeAsync());

const foreignJwk = () => ({
  ...foreign.publicKey.export({ format: 'jwk' }),
  kid: forger.header['kid'],
  alg: 'ES256',
});

/** The answers of every endpoint that takes an access token. */
async function doors(token: string) {
  const authorization = `Bearer ${token}`;
  const resource = await fetch(pair.documents, { headers: { authorization } });
  const verify = await fetch(`${pair.resource}/verify`, {
    headers: {
      authorization,
      'x-forwarded-method': 'GET',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(pair.resource).host,
      'x-forwarded-uri': '/documents/',
    },
  });
  const { body } = await pair.post('/token/introspection', { token }, machine);
  return {
    resource: resource.status,
    challenge: resource.headers.get('www-authenticate')?.includes('error="invalid_token"') ?? false,
    verify: verify.status,
    active: body['active'],
  };
}
const OPEN = { resource: 200, challenge: false, verify: 204, active: true };
const SHUT = { resource: 401, challenge: true, verify: 401, active: false };

describe('access tokens (RFC 9068 section 4, RFC 8725)', () => {
  test('a token that the test signs like the server is accepted everywhere', async () => {
    expect(await doors(genuine)).toEqual(OPEN);
    expect(await doors(forger.token())).toEqual(OPEN);
    expect(await doors(forger.token({}, { typ: 'application/at+jwt' }))).toEqual(OPEN);
    expect(await doors(forger.token({ aud: ['https://a.example', pair.documents] }))).toEqual({
      ...OPEN,
      active: expect.any(Boolean),
    });
  });

  /** A token that is signed with a shared secret, as `HS256` is. */
  const hmac = (secret: string | Buffer, header: Members = {}) => {
    const input = [{ ...forger.header, alg: 'HS256', ...header }, forger.claims].map((part) =>
      base64url(part),
    );
    const signature = createHmac('sha256', secret).update(input.join('.')).digest('base64url');
    return [...input, signature].join('.');
  };
  const pem = () => forger.publicKey.export({ type: 'spki', format: 'pem' });
  const unsigned = (alg: string, signature = '') =>
    [base64url({ ...forger.header, alg }), base64url(forger.claims), signature].join('.');
  const split = () => genuine.split('.') as [string, string, string];
  const der = () => {
    const [header, payload] = split();
    return sign('sha256', Buffer.from(`${header}.${payload}`), forger.key).toString('base64url');
  };

  const FORGERIES: Record<string, () => string> = {
    'alg none': () => unsigned('none'),
    'alg None': () => unsigned('None'),
    'alg nOnE with a signature': () => unsigned('nOnE', split()[2]),
    'alg none with a foreign signature': () => unsigned('none', 'AAAA'),
    'HS256 with the public key as PEM': () => hmac(pem()),
    'HS256 with the public key as PEM without its last newline': () => hmac(pem().trim()),
    'HS256 with the public key as DER': () =>
      hmac(forger.publicKey.export({ type: 'spki', format: 'der' })),
    'HS256 with the public key as JWK': () => hmac(JSON.stringify(forger.publicJwk)),
    'HS256 with the x coordinate': () =>
      hmac(Buffer.from(String(forger.publicJwk['x']), 'base64url')),
    'HS256 with nothing': () => hmac(''),
    'HS256 that says ES256': () => hmac(pem(), { alg: 'ES256' }),
    'alg of another key type': () => forger.token({}, { alg: 'RS256' }),
    'alg in an array': () => forger.token({}, { alg: ['ES256'] }),
    'no alg': () => forger.token({}, { alg: undefined }),

    'an ID token': () =>
      forger.token({ aud: machine.id, nonce: 'n', auth_time: now }, { typ: 'JWT' }),
    'typ JWT': () => forger.token({}, { typ: 'JWT' }),
    'typ dpop+jwt': () => forger.token({}, { typ: 'dpop+jwt' }),
    'typ logout+jwt': () => forger.token({}, { typ: 'logout+jwt' }),
    'no typ': () => forger.token({}, { typ: undefined }),

    'aud elsewhere': () => forger.token({ aud: 'https://elsewhere.example/' }),
    'aud the issuer': () => forger.token({ aud: pair.issuer }),
    'aud the origin': () => forger.token({ aud: pair.resource }),
    'aud without its slash': () => forger.token({ aud: pair.documents.slice(0, -1) }),
    'aud with more': () => forger.token({ aud: `${pair.documents}hello.txt` }),
    'aud an object': () => forger.token({ aud: { 0: pair.documents } }),
    'aud an empty list': () => forger.token({ aud: [] }),
    'no aud': () => forger.token({ aud: undefined }),
    'iss elsewhere': () => forger.token({ iss: 'https://elsewhere.example' }),
    'iss with a slash': () => forger.token({ iss: `${pair.issuer}/` }),
    'iss in a list': () => forger.token({ iss: [pair.issuer] }),
    'no iss': () => forger.token({ iss: undefined }),

    expired: () => forger.token({ iat: now - 700, exp: now - 100 }),
    'no exp': () => forger.token({ exp: undefined }),
    'exp a string': () => forger.token({ exp: String(now + 600) }),
    'exp null': () => forger.token({ exp: null }),
    'not yet': () => forger.token({ nbf: now + 300 }),
    'issued in the future': () => forger.token({ iat: now + 300 }),

    'no client_id': () => forger.token({ client_id: undefined }),
    'no jti': () => forger.token({ jti: undefined }),
    'no sub': () => forger.token({ sub: undefined }),
    'no generation': () => forger.token({ client_gen: undefined }),
    'a generation below zero': () => forger.token({ client_gen: -1 }),
    'another epoch': () => forger.token({ epoch: 'another' }),
    'no epoch': () => forger.token({ epoch: undefined }),
    'bound to a certificate': () => forger.token({ cnf: { 'x5t#S256': 'x' } }),
    'bound to nothing': () => forger.token({ cnf: {} }),

    'a foreign key under our kid': () => forger.token({}, {}, foreign.privateKey),
    'its own key in jwk': () => forger.token({}, { jwk: foreignJwk() }, foreign.privateKey),
    'our key in jwk': () => forger.token({}, { jwk: forger.publicJwk }),
    'its own keys at jku': () => forger.token({}, { jku: elsewhere.url }, foreign.privateKey),
    'our keys at jku': () => forger.token({}, { jku: `${pair.issuer}/jwks` }),
    'a chain in x5c': () => forger.token({}, { x5c: ['MAA='] }),
    'a chain at x5u': () => forger.token({}, { x5u: elsewhere.url }, foreign.privateKey),
    'an unknown kid': () => forger.token({}, { kid: randomUUID() }),
    'a kid that is a path': () => forger.token({}, { kid: '../../../../dev/null' }),
    'a kid that is an object': () => forger.token({}, { kid: { toString: 'x' } }),
    'a kid of Object.prototype': () => forger.token({}, { kid: '__proto__' }),
    'no kid': () => forger.token({}, { kid: undefined }),
    'crit with an unknown extension': () =>
      forger.token({}, { crit: ['urn:example:x'], 'urn:example:x': true }),
    'crit b64': () => forger.token({}, { crit: ['b64'], b64: false }),
    'an empty crit': () => forger.token({}, { crit: [] }),

    'another payload': () => {
      const [header, , signature] = split();
      return [header, base64url({ ...forger.claims, scope: 'admin' }), signature].join('.');
    },
    'another header': () => {
      const [, payload, signature] = split();
      return [base64url({ ...forger.header, x: 1 }), payload, signature].join('.');
    },
    'half a signature': () => genuine.slice(0, -43),
    'no signature': () => `${split()[0]}.${split()[1]}.`,
    'a signature of zeros': () => [...split().slice(0, 2), 'A'.repeat(86)].join('.'),
    'a signature in DER': () => [...split().slice(0, 2), der()].join('.'),
    'a signature in another spelling': () => `${genuine.slice(0, -1)}${respelt(genuine)}`,
    'a signature with padding': () => `${genuine}==`,
    'a fourth part': () => `${genuine}.${split()[2]}`,
    'two parts': () => split().slice(0, 2).join('.'),
    'the whole in another base64': () => Buffer.from(genuine).toString('base64url'),
    'a byte more than anybody reads': () => forger.token({ more: 'x'.repeat(8192) }),
  };

  test.each(Object.entries(FORGERIES))(
    'a forged token is refused everywhere: %s',
    async (_, forge) => {
      expect(await doors(forge())).toEqual(SHUT);
    },
  );

  test('no server fetches a URL that a forged token names', () => {
    expect(elsewhere.fetched).toBe(0);
  });

  test('RFC 7009 section 2.2: the revocation of a forged token is answered with 200 and revokes nothing', async () => {
    const { jti } = forger.claims;
    for (const forged of [
      forger.token({ jti }, {}, foreign.privateKey),
      unsigned('none'),
      hmac(pem()),
    ]) {
      const { status } = await pair.post('/token/revocation', { token: forged }, machine);
      expect(status).toBe(200);
    }
    expect(await doors(genuine)).toEqual(OPEN);
  });
});

/** Another last character for a 64-byte signature with the same meaning: its low four bits are unused. */
function respelt(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1] ?? '';
}
