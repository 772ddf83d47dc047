import { createSecretKey, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  ALGORITHMS,
  importPublicJwk,
  type JwsAlgorithm,
  MESSAGE_ALGORITHMS,
} from './algorithms.ts';
import { es256ToDer } from '#shared/base/der.ts';
import { GENERATE, publicJwk } from './jws.fixture.ts';

const PAIRS = { ES256: GENERATE.ES256(), RS256: GENERATE.RS256(), EdDSA: GENERATE.EdDSA() };
const rowOf = (alg: string): JwsAlgorithm => {
  const row = ALGORITHMS.get(alg);
  if (row === undefined) throw new Error(`no ${alg}`);
  return row;
};
const raw = (data: Buffer) =>
  sign('sha256', data, { key: PAIRS.ES256.privateKey, dsaEncoding: 'ieee-p1363' });

describe('RFC 7518 section 3.1: the allow-list', () => {
  test.each(['none', 'HS256', 'HS512', 'ES256K', 'ES384', 'PS256', 'es256', '', 'constructor'])(
    'the algorithm %s is not on the allow-list',
    (alg) => expect(ALGORITHMS.get(alg)).toBeUndefined(),
  );

  test.each([undefined, null, 0, {}, ['ES256']])(
    'the algorithm %j is not on the allow-list',
    (alg) => expect(ALGORITHMS.get(alg)).toBeUndefined(),
  );
});

test('RFC 9421 section 3.3.7: signatures of messages may use three more algorithms, none of them symmetric', () => {
  const names = [...MESSAGE_ALGORITHMS.keys()];
  expect(names).toEqual([...ALGORITHMS.keys(), 'ES384', 'PS256', 'PS512']);
  for (const [name, { alg }] of MESSAGE_ALGORITHMS) expect(alg).toBe(name);
});

describe('RFC 8725 section 3.1: a key is for one algorithm', () => {
  const cases = Object.keys(PAIRS).flatMap((alg) =>
    Object.entries(PAIRS).map(([owner, pair]) => ({ alg, owner, key: pair.publicKey })),
  );
  test.each(cases)('$alg and the key of $owner', ({ alg, owner, key }) => {
    expect(rowOf(alg).fits(key)).toBe(alg === owner);
    const imported = importPublicJwk(publicJwk(key), rowOf(alg));
    expect(imported?.equals(key)).toBe(alg === owner ? true : undefined);
  });

  test.each([
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey],
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey],
    ['RS256', generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey],
    ['EdDSA', generateKeyPairSync('x25519').publicKey],
    ['EdDSA', generateKeyPairSync('ed448').publicKey],
    ['ES256', PAIRS.ES256.privateKey],
    ['RS256', createSecretKey(Buffer.alloc(32))],
  ])('%s refuses another curve, size, kind or a key that is not public (%#)', (alg, key) => {
    expect(rowOf(alg).fits(key)).toBe(false);
  });

  test('RFC 7518 section 3.3: an RSA key with an excessive size or exponent is refused', () => {
    const wide = Buffer.alloc(1025, 0xff).toString('base64url');
    const jwk = publicJwk(PAIRS.RS256.publicKey);
    expect(importPublicJwk({ ...jwk, n: wide }, rowOf('RS256'))).toBeUndefined();
    expect(importPublicJwk({ ...jwk, e: jwk['n'] }, rowOf('RS256'))).toBeUndefined();
    expect(importPublicJwk({ ...jwk, e: 'AQ' }, rowOf('RS256'))).toBeUndefined();
  });
});

describe('RFC 7517 section 4: a public key from a JWK', () => {
  const jwk = publicJwk(PAIRS.ES256.publicKey);

  test.each<[unknown, boolean]>([
    [['verify'], true],
    [['verify', 'sign'], true],
    [undefined, true],
    [['encrypt', 'wrapKey'], false],
    [['sign'], false],
    [[], false],
    ['verify', false],
    [null, true],
  ])('RFC 7517 section 4.3: key_ops %j: %s', (operations, usable) => {
    const imported = importPublicJwk({ ...jwk, key_ops: operations }, rowOf('ES256'));
    expect(imported !== undefined).toBe(usable);
  });

  test('members for another use or algorithm are refused', () => {
    expect(importPublicJwk({ ...jwk, use: 'enc' }, rowOf('ES256'))).toBeUndefined();
    expect(importPublicJwk({ ...jwk, alg: 'ES384' }, rowOf('ES256'))).toBeUndefined();
    expect(importPublicJwk({ ...jwk, use: 'sig', alg: 'ES256' }, rowOf('ES256'))).toBeDefined();
  });

  test.each([
    ['a point that is not on the curve', { ...jwk, y: jwk['x'] }],
    ['a member missing', { kty: 'EC', crv: 'P-256', x: jwk['x'] }],
    ['a member that is no string', { ...jwk, x: { toString: 'x' } }],
    ['an unknown curve', { ...jwk, crv: 'P-999' }],
    ['a symmetric key', { kty: 'oct', k: 'AAAA' }],
    ['nothing', {}],
  ])('%s is no key', (_, broken) => {
    expect(importPublicJwk(broken, rowOf('ES256'))).toBeUndefined();
  });

  test('only the public part of a private JWK is read', () => {
    const secret = publicJwk(PAIRS.ES256.privateKey);
    expect(secret['d']).toBeDefined();
    expect(importPublicJwk(secret, rowOf('ES256'))?.type).toBe('public');
  });
});

describe('RFC 7518 section 3.4: ES256 signatures', () => {
  test('a signature that Node made as R || S verifies', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const data = Buffer.from(bytes);
        return rowOf('ES256').verify(data, PAIRS.ES256.publicKey, raw(data));
      }),
      { numRuns: 300 },
    );
  });

  test('a signature with any octet changed is refused', () => {
    const data = Buffer.from('data');
    const good = raw(data);
    fc.assert(
      fc.property(fc.nat({ max: 63 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bad = Buffer.from(good);
        bad.writeUInt8(bad.readUInt8(at) ^ change, at);
        return !rowOf('ES256').verify(data, PAIRS.ES256.publicKey, bad);
      }),
    );
  });

  test.each([0, 1, 63, 65, 70, 128])('a signature of %i octets is refused', (length) => {
    expect(es256ToDer(Buffer.alloc(length, 1))).toBeUndefined();
  });

  test('CVE-2022-21449: a signature with R and S of zero is refused', () => {
    const zero = Buffer.alloc(64);
    expect(rowOf('ES256').verify(Buffer.from('x'), PAIRS.ES256.publicKey, zero)).toBe(false);
  });

  test('a signature in DER is refused, since RFC 7515 requires R || S', () => {
    const der = sign('sha256', Buffer.from('x'), PAIRS.ES256.privateKey);
    expect(rowOf('ES256').verify(Buffer.from('x'), PAIRS.ES256.publicKey, der)).toBe(false);
  });

  test('X.690 section 8.3.2: integers are written in their shortest form, and positive', () => {
    const signature = Buffer.concat([
      Buffer.alloc(31),
      Buffer.from([0x80]),
      Buffer.alloc(31),
      Buffer.from([1]),
    ]);
    expect(es256ToDer(signature)?.toString('hex')).toBe('300702020080020101');
  });
});

test.each(['RS256', 'EdDSA'] as const)(
  '%s verifies its own signature, and no truncated one',
  (alg) => {
    const data = Buffer.from('data');
    const hash = alg === 'EdDSA' ? null : 'sha256';
    const signature = sign(hash, data, PAIRS[alg].privateKey);
    const { publicKey } = PAIRS[alg];
    expect(rowOf(alg).verify(data, publicKey, signature)).toBe(true);
    expect(rowOf(alg).verify(data, publicKey, signature.subarray(1))).toBe(false);
    expect(rowOf(alg).verify(data, publicKey, Buffer.alloc(0))).toBe(false);
    expect(rowOf(alg).verify(Buffer.from('Data'), publicKey, signature)).toBe(false);
  },
);
