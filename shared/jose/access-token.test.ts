import { createHmac, createSecretKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { SignJWT } from 'jose';
import { checkAccessToken, namesAudience, parseAccessToken } from './access-token.ts';
import { base64url, GENERATE, publicJwk, signJws } from './jws.fixture.ts';

const NOW = 1_800_000_000;
const pair = GENERATE.ES256();
const rsa = GENERATE.RS256();
const expected = { issuer: 'https://as', audiences: ['https://rs/a/'], now: NOW, skew: 5 };
const HEADER = { alg: 'ES256', typ: 'at+jwt', kid: 'k1' };
const CLAIMS = {
  iss: 'https://as',
  aud: 'https://rs/a/',
  sub: 'machine',
  client_id: 'machine',
  jti: 'j1',
  iat: NOW - 10,
  exp: NOW + 600,
  scope: 'read write',
  client_gen: 0,
  epoch: 'e1',
};

/** Returns the reason of a refusal; undefined for a valid token. */
function judge(token: string, key = pair.publicKey, want = expected): string | undefined {
  const parsed = parseAccessToken(token);
  const checked = parsed.ok ? checkAccessToken(parsed, key, want) : parsed;
  return checked.ok ? undefined : checked.reason;
}
const withHeader = (header: object) => signJws({ ...HEADER, ...header }, CLAIMS, pair.privateKey);
const withClaims = (claims: object) => signJws(HEADER, { ...CLAIMS, ...claims }, pair.privateKey);

describe('RFC 9068: a good token', () => {
  test.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'a token signed by jose with %s is accepted',
    async (alg) => {
      const { privateKey, publicKey } = GENERATE[alg]();
      const token = await new SignJWT(CLAIMS)
        .setProtectedHeader({ alg, typ: 'at+jwt', kid: 'k' })
        .sign(privateKey);
      expect(judge(token, publicKey)).toBeUndefined();
    },
  );

  test('a valid token yields the known claims and no others', () => {
    const parsed = parseAccessToken(withClaims({ grant_id: 'g', admin: true }));
    if (!parsed.ok) throw new Error(parsed.reason);
    expect(parsed.kid).toBe('k1');
    expect(checkAccessToken(parsed, pair.publicKey, expected)).toEqual({
      ok: true,
      claims: { ...CLAIMS, grant_id: 'g' },
    });
  });

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/At+Jwt'])(
    'section 4: the typ %s is accepted',
    (typ) => expect(judge(withHeader({ typ }))).toBeUndefined(),
  );
});

describe('RFC 8725 section 2.1: algorithm confusion', () => {
  test('the algorithm none is refused', () => {
    const token = `${base64url({ ...HEADER, alg: 'none' })}.${base64url(CLAIMS)}.`;
    expect(judge(token)).toBe('alg is not on the allow-list');
  });

  test.each([
    ['PEM', pair.publicKey.export({ format: 'pem', type: 'spki' })],
    ['DER', pair.publicKey.export({ format: 'der', type: 'spki' })],
  ])('HS256 is refused with the public key as %s', (_, secret) => {
    const input = `${base64url({ ...HEADER, alg: 'HS256' })}.${base64url(CLAIMS)}`;
    const mac = createHmac('sha256', secret).update(input).digest('base64url');
    expect(judge(`${input}.${mac}`)).toBe('alg is not on the allow-list');
  });

  test('ES256 in the header of a token is refused for an RSA key', () => {
    const token = signJws(HEADER, CLAIMS, rsa.privateKey);
    expect(judge(token, rsa.publicKey)).toBe('alg does not fit the key');
  });

  test('RS256 in the header of a token is refused for an EC key', () => {
    expect(judge(withHeader({ alg: 'RS256' }))).toBe('alg does not fit the key');
  });

  test('a symmetric key is refused', () => {
    const key = createSecretKey(Buffer.alloc(32));
    expect(judge(withHeader({}), key)).toBe('alg does not fit the key');
  });
});

describe('RFC 9068 section 4: the header', () => {
  test.each([
    'JWT',
    'jwt',
    'dpop+jwt',
    'logout+jwt',
    'at+jwt;x',
    ' at+jwt',
    '',
    null,
    undefined,
    1,
    { toString: 1, valueOf: 1 },
  ])('typ %j is refused, an ID token among them', (typ) =>
    expect(judge(withHeader({ typ }))).toBe('typ is not at+jwt'),
  );

  test.each([
    ['jku', 'https://evil/jwks'],
    ['jwk', publicJwk(pair.publicKey)],
    ['x5u', 'https://evil/cert'],
    ['x5c', ['MII']],
  ])('RFC 8725 section 3.10: a key of the sender by %s is refused', (name, value) => {
    expect(judge(withHeader({ [name]: value }))).toBe(`header carries ${name}`);
  });

  test.each([undefined, '', 1, null, ['k1']])('kid %j is refused', (kid) => {
    expect(judge(withHeader({ kid }))).toBe('kid is missing');
  });

  test('crit is refused', () => {
    expect(judge(withHeader({ crit: ['exp'] }))).toBe('crit names an extension');
  });
});

describe('RFC 7515 section 5.2: the signature', () => {
  test('a signature of another key is refused', () => {
    const token = signJws(HEADER, CLAIMS, GENERATE.ES256().privateKey);
    expect(judge(token)).toBe('signature is wrong');
  });

  test('a signature of another token is refused', () => {
    const parts = withClaims({}).split('.');
    const [, payload] = withClaims({ sub: 'root' }).split('.');
    expect(judge(`${parts[0]}.${payload}.${parts[2]}`)).toBe('signature is wrong');
  });

  test('a missing or truncated signature is refused', () => {
    const token = withClaims({});
    expect(judge(token.slice(0, token.lastIndexOf('.') + 1))).toBe('signature is wrong');
    expect(judge(token.slice(0, -4))).toBeDefined();
  });

  test('a change of any single character is refused', () => {
    const token = withClaims({});
    fc.assert(
      fc.property(
        fc.nat({ max: token.length - 1 }),
        fc.string({ maxLength: 1 }),
        (at, character) => {
          fc.pre(token[at] !== character);
          return judge(token.slice(0, at) + character + token.slice(at + 1)) !== undefined;
        },
      ),
    );
  });
});

describe('RFC 7519 section 4.1: the claims', () => {
  test.each(['https://as/', 'https://AS', 'https://evil', 'https://as.evil'])(
    'the iss %s is refused, since the comparison is exact',
    (iss) => expect(judge(withClaims({ iss }))).toMatch(/^iss is another issuer: /),
  );

  test.each([
    ['https://rs/a'],
    ['https://rs/b/'],
    ['https://rs/a/b'],
    [['https://rs/b/', 'https://rs/c/']],
  ])('aud %j is refused', (aud) =>
    expect(judge(withClaims({ aud }))).toMatch(/^aud is another resource: /),
  );

  test('one matching aud among others is accepted', () => {
    expect(judge(withClaims({ aud: ['https://rs/b/', 'https://rs/a/'] }))).toBeUndefined();
  });

  test('a token is refused from exp on, plus the skew', () => {
    expect(judge(withClaims({ exp: NOW - 4 }))).toBeUndefined();
    expect(judge(withClaims({ exp: NOW - 5 }))).toBe('expired at 2027-01-15T07:59:55Z');
  });

  test.each(['nbf', 'iat'])('a token is refused before its %s, less the skew', (claim) => {
    expect(judge(withClaims({ [claim]: NOW + 5 }))).toBeUndefined();
    expect(judge(withClaims({ [claim]: NOW + 6 }))).toBe('not valid yet: the clocks differ');
  });

  test.each(['iss', 'aud', 'sub', 'client_id', 'jti', 'iat', 'exp', 'client_gen', 'epoch'])(
    'a token without %s is refused',
    (claim) => {
      expect(judge(withClaims({ [claim]: undefined }))).toBe(
        `claim ${claim} is missing or malformed`,
      );
    },
  );

  test.each([
    ['exp', '9999999999'],
    ['exp', null],
    ['iat', {}],
    ['nbf', 'soon'],
    ['nbf', null],
    ['aud', []],
    ['aud', [1]],
    ['aud', {}],
    ['sub', 7],
    ['sub', ''],
    ['scope', ['read']],
    ['client_gen', -1],
    ['client_gen', 0.5],
    ['client_gen', '0'],
    ['sub_gen', null],
    ['grant_id', 1],
    ['cnf', null],
    ['cnf', 'jkt'],
    ['cnf', {}],
    ['cnf', { jkt: 1 }],
    ['cnf', { 'x5t#S256': 'bound by TLS' }],
    ['cnf', { jkt: 'x', jwk: {} }],
  ])('%s of %j is refused', (claim, value) => {
    expect(judge(withClaims({ [claim]: value }))).toMatch(/^claim .* is missing or malformed$/);
  });

  test('an infinite exp is refused', () => {
    const payload = JSON.stringify(CLAIMS).replace(`"exp":${CLAIMS.exp}`, '"exp":1e999');
    expect(judge(signJws(HEADER, payload, pair.privateKey))).toBe(
      'claim exp is missing or malformed',
    );
  });

  test('any signed payload gives a token or a refusal', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(CLAIMS)), fc.jsonValue()),
        (claims) => {
          const reason = judge(withClaims(claims));
          return reason === undefined || reason.length > 0;
        },
      ),
    );
  });
});

test('RFC 7519 section 4.1.3: a token and a verifier may each have one audience or several', () => {
  expect(namesAudience('a', ['a', 'b'])).toBe(true);
  expect(namesAudience(['x', 'b'], ['a', 'b'])).toBe(true);
  expect(namesAudience(['x'], ['a', 'b'])).toBe(false);
  expect(namesAudience('a', [])).toBe(false);
});
