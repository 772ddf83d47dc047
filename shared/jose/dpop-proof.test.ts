import { createHash, createHmac, type KeyObject } from 'node:crypto';
import { refuse } from '#shared/refusals/tokens.ts';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import { checkDpopProof, type ExpectedProof } from './dpop-proof.ts';
import { base64url, GENERATE, publicJwk, signJws } from './jws.fixture.ts';

const NOW = 1_800_000_000;
const TOKEN = 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU';
const ATH = createHash('sha256').update(TOKEN).digest('base64url');
const pair = GENERATE.ES256();
const JWK = publicJwk(pair.publicKey);
const JKT = await calculateJwkThumbprint(JWK);
const HEADER = { typ: 'dpop+jwt', alg: 'ES256', jwk: JWK };
const CLAIMS = { jti: 'j1', htm: 'GET', htu: 'https://rs.example/a', iat: NOW, ath: ATH };
const EXPECTED: ExpectedProof = {
  method: 'GET',
  htu: 'https://rs.example/a',
  accessToken: TOKEN,
  jkt: JKT,
  now: NOW,
  window: 60,
};

const check = (proof: string, expected: Partial<ExpectedProof> = {}) =>
  checkDpopProof(proof, { ...EXPECTED, ...expected }, new Map<string, KeyObject>());
const withHeader = (header: object) =>
  check(signJws({ ...HEADER, ...header }, CLAIMS, pair.privateKey));
const withClaims = (claims: object, expected?: Partial<ExpectedProof>) =>
  check(signJws(HEADER, { ...CLAIMS, ...claims }, pair.privateKey), expected);
const invalid = (reason: unknown) =>
  expect.objectContaining({ ok: false, error: 'invalid_dpop_proof', reason });

/** The proof of RFC 9449 section 7.1, figure "DPoP Protected Resource Request". */
const EXAMPLE =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA';

describe('RFC 9449: good proofs', () => {
  test('section 7.1: the example of the RFC is accepted', () => {
    const htu = 'https://resource.example.org/protectedresource';
    const jkt = '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I';
    expect(check(EXAMPLE, { htu, jkt, now: 1562262618 })).toEqual({
      ok: true,
      jti: 'e1j3V_bKic8-LAEB',
      jkt,
      iat: 1562262618,
    });
  });

  test.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'a proof that jose made with %s is accepted',
    async (alg) => {
      const { privateKey, publicKey } = GENERATE[alg]();
      const jwk = publicJwk(publicKey);
      const jkt = await calculateJwkThumbprint(jwk);
      const proof = await new SignJWT(CLAIMS)
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk })
        .sign(privateKey);
      expect(check(proof, { jkt })).toEqual({ ok: true, jti: 'j1', jkt, iat: NOW });
    },
  );

  test('section 4.2: other members in jwk, header and payload are ignored', () => {
    const jwk = { ...JWK, kid: 'mine', use: 'sig', alg: 'ES256' };
    const proof = signJws({ ...HEADER, jwk }, { ...CLAIMS, extra: true }, pair.privateKey);
    expect(check(proof)).toMatchObject({ ok: true, jkt: JKT });
  });

  test('section 4.3: htu is compared in normal form, without query and fragment', () => {
    expect(withClaims({ htu: 'HTTPS://RS.example:443/%61?x#y' }).ok).toBe(true);
    expect(withClaims({}, { htu: 'https://rs.example/a?x=y' }).ok).toBe(true);
  });
});

describe('RFC 9449 section 4.3: each check', () => {
  test.each(['', 'x', 'a.b.c', `${EXAMPLE}, ${EXAMPLE}`, `${EXAMPLE} `, EXAMPLE.slice(0, -2)])(
    'check 2: a value that is not one well-formed JWT is refused (%#)',
    (proof) => expect(check(proof)).toMatchObject({ ok: false, error: 'invalid_dpop_proof' }),
  );

  test.each(['jti', 'htm', 'htu', 'iat'])('check 3: a proof without %s is refused', (claim) => {
    expect(withClaims({ [claim]: undefined })).toMatchObject({ error: 'invalid_dpop_proof' });
    expect(withClaims({ [claim]: null })).toMatchObject({ error: 'invalid_dpop_proof' });
    expect(withClaims({ [claim]: [CLAIMS.jti] })).toMatchObject({ error: 'invalid_dpop_proof' });
  });

  test('check 3: a jti of unnecessary size is refused (section 11.1)', () => {
    expect(withClaims({ jti: 'x'.repeat(256) }).ok).toBe(true);
    expect(withClaims({ jti: 'x'.repeat(257) }).ok).toBe(false);
    expect(withClaims({ jti: '' }).ok).toBe(false);
  });

  test.each(['JWT', 'at+jwt', 'DPoP+JWT', 'application/dpop+jwt', undefined, null])(
    'check 4: the typ %j is refused',
    (typ) => expect(withHeader({ typ })).toEqual(invalid('typ is not dpop+jwt')),
  );

  test.each(['none', 'HS256', 'ES384', undefined])('check 5: the alg %j is refused', (alg) => {
    expect(withHeader({ alg })).toEqual(invalid('alg is not on the allow-list'));
  });

  test('check 5: HS256 with the key in jwk as the secret is refused', () => {
    const input = `${base64url({ ...HEADER, alg: 'HS256' })}.${base64url(CLAIMS)}`;
    const mac = createHmac('sha256', JSON.stringify(JWK)).update(input).digest('base64url');
    expect(check(`${input}.${mac}`)).toEqual(invalid('alg is not on the allow-list'));
  });

  test('check 6: a proof signed by another key is refused', () => {
    const proof = signJws(HEADER, CLAIMS, GENERATE.ES256().privateKey);
    expect(check(proof)).toEqual(invalid('signature is wrong'));
  });

  test('check 6: a key of another kind than alg is refused', () => {
    expect(withHeader({ alg: 'RS256' })).toEqual(invalid('jwk is not a key for alg'));
    expect(withHeader({ jwk: publicJwk(GENERATE.RS256().publicKey) })).toEqual(
      invalid('jwk is not a key for alg'),
    );
  });

  test('check 6: a proof with changed claims is refused', () => {
    const [header, , signature] = signJws(HEADER, CLAIMS, pair.privateKey).split('.');
    const payload = base64url({ ...CLAIMS, jti: 'j2' });
    expect(check(`${header}.${payload}.${signature}`)).toEqual(invalid('signature is wrong'));
  });

  test.each([undefined, null, 'jwk', [JWK], {}, { kty: 'oct', k: 'AAAA' }])(
    'check 6: %j as jwk is refused',
    (jwk) => expect(withHeader({ jwk })).toMatchObject({ error: 'invalid_dpop_proof' }),
  );

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])(
    'check 7: a jwk with %s is refused',
    (member) => {
      expect(withHeader({ jwk: { ...JWK, [member]: 'AAAA' } })).toEqual(
        invalid('jwk holds a private key'),
      );
    },
  );

  test.each(['POST', 'get', 'HEAD', 'GET '])(
    'check 8: a proof for the method %j is refused',
    (htm) => {
      expect(withClaims({ htm })).toEqual(invalid('htm is another method than GET'));
    },
  );

  test.each([
    'https://rs.example/b',
    'https://rs.example/a/',
    'http://rs.example/a',
    'https://evil.example/a',
    'https://rs.example:8443/a',
    'https://x@rs.example/a',
    '/a',
    '',
  ])('check 9: a proof for %j is refused', (htu) =>
    expect(withClaims({ htu })).toEqual(
      invalid(expect.stringMatching(/^htu is another URI than https:/)),
    ),
  );

  test('check 9: a request whose URI has no normal form is refused', () => {
    expect(withClaims({ htu: 'x' }, { htu: 'x' })).toEqual(invalid('htu is another URI than x'));
  });

  test.each([
    [NOW - 60, true],
    [NOW + 60, true],
    [NOW - 61, false],
    [NOW + 61, false],
    [NOW * 1000, false],
  ])('check 11: a proof made at %i is accepted: %s', (iat, ok) =>
    expect(withClaims({ iat }).ok).toBe(ok),
  );

  test('check 12: a proof is refused without ath, for another token, or with another encoding', () => {
    const reason = invalid('ath is the hash of another token');
    const hex = createHash('sha256').update(TOKEN).digest('hex');
    expect(withClaims({ ath: undefined })).toEqual(reason);
    expect(withClaims({}, { accessToken: `${TOKEN}x` })).toEqual(reason);
    expect(withClaims({ ath: `${ATH}=` })).toEqual(reason);
    expect(withClaims({ ath: hex })).toEqual(reason);
    expect(withClaims({ ath: [ATH] })).toEqual(reason);
  });

  test('check 12: a proof is refused if its key is not the key of the token', () => {
    const other = GENERATE.ES256();
    const header = { ...HEADER, jwk: publicJwk(other.publicKey) };
    expect(check(signJws(header, CLAIMS, other.privateKey))).toEqual({
      ok: false,
      error: 'invalid_token',
      ...refuse('proof-jkt'),
    });
  });
});

describe('RFC 9449 section 9: nonces', () => {
  const refusesNonce = (nonce: string | undefined) =>
    nonce === 'good' ? undefined : refuse('proof-nonce-foreign');
  const needed = { ok: false, error: 'use_dpop_nonce' };

  test.each([undefined, 'bad', '', ['good'], 1])('nonce %j asks for a new one', (nonce) => {
    expect(withClaims({ nonce }, { refusesNonce })).toMatchObject(needed);
  });

  test('section 11.1: a nonce dates the proof for a client with a wrong clock', () => {
    expect(withClaims({ nonce: 'good', iat: 5 }, { refusesNonce }).ok).toBe(true);
    expect(withClaims({ nonce: 'good', iat: 5 }).ok).toBe(false);
  });

  test('a wrong proof does not get a request for a nonce', () => {
    expect(withClaims({ htm: 'POST' }, { refusesNonce })).toMatchObject({
      error: 'invalid_dpop_proof',
    });
  });
});

describe('the cache of keys', () => {
  test('the cache stores a key only after a good signature, and then returns it', () => {
    const keys = new Map<string, KeyObject>();
    const good = signJws(HEADER, CLAIMS, pair.privateKey);
    expect(checkDpopProof(`${good.slice(0, -8)}AAAAAAAA`, EXPECTED, keys).ok).toBe(false);
    expect(keys.size).toBe(0);
    expect(checkDpopProof(good, EXPECTED, keys).ok).toBe(true);
    expect([...keys.keys()]).toEqual([JKT]);
    expect(checkDpopProof(good, EXPECTED, keys).ok).toBe(true);
  });

  test('a key that is known for one algorithm is not used for another', () => {
    const rsa = GENERATE.RS256();
    const keys = new Map([[JKT, rsa.publicKey]]);
    const proof = signJws(HEADER, CLAIMS, pair.privateKey);
    expect(checkDpopProof(proof, EXPECTED, keys)).toEqual(invalid('jwk is not a key for alg'));
  });
});

test('any signed header and payload give a proof or a refusal', () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const header = fc.dictionary(fc.constantFrom('typ', 'alg', 'jwk', 'crit', 'kid'), json);
  const claims = fc.dictionary(fc.constantFrom('jti', 'htm', 'htu', 'iat', 'ath', 'nonce'), json);
  fc.assert(
    fc.property(header, claims, (h, c) => {
      const proof = signJws({ ...HEADER, ...h }, { ...CLAIMS, ...c }, pair.privateKey);
      return typeof check(proof).ok === 'boolean';
    }),
  );
});
