import {
  createHash,
  createPublicKey,
  ECDH,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import { PublicKeyError, readPublicKey } from './public-key.ts';

const rsa = (modulusLength: number, publicExponent = 0x10001) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });

const PAIRS = {
  Ed25519: generateKeyPairSync('ed25519'),
  'P-256': ec('P-256'),
  'P-384': ec('P-384'),
  'RSA of 2048 bits': rsa(2048),
  'RSA of 3072 bits': rsa(3072),
} satisfies Readonly<Record<string, Record<'publicKey' | 'privateKey', KeyObject>>>;

const REFUSED = {
  'ec secp256k1': ec('secp256k1').publicKey,
  'ec secp521r1': ec('P-521').publicKey,
  ed448: generateKeyPairSync('ed448').publicKey,
  x25519: generateKeyPairSync('x25519').publicKey,
  'dsa 1024': generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).publicKey,
  'rsa 2040': rsa(2040).publicKey,
  'rsa-pss 2048': generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey,
} satisfies Readonly<Record<string, KeyObject>>;

const der = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });
const pem = (key: KeyObject, type: 'spki' | 'pkcs1' = 'spki') =>
  key.export({ format: 'pem', type });
const asJwk = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }) });
const read = (content: string | Uint8Array | object, scheme: 'Concealed' | 'HOBA' = 'Concealed') =>
  readPublicKey(
    content instanceof Uint8Array
      ? content
      : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
    scheme,
  );
const kept = (key: KeyObject) => ({
  id: createHash('sha256').update(der(key)).digest('base64url'),
  spki: der(key).toString('base64url'),
});

describe('a key is the same in every form', () => {
  test.each(Object.entries(PAIRS))('%s', (_, { publicKey }) => {
    const jwk = asJwk(publicKey);
    const forms = [
      der(publicKey),
      pem(publicKey),
      `\n${pem(publicKey).replaceAll('\n', '\r\n')}\n`,
      pem(publicKey).replaceAll('\n', ''),
      jwk,
      { ...jwk, use: 'sig', kid: 'x', alg: 'whatever' },
      Buffer.concat([der(publicKey), Buffer.from('more')]),
    ];
    for (const form of forms) expect(read(form)).toEqual(kept(publicKey));
    expect(keptJwk(jwk)).toEqual(kept(publicKey));
  });

  test('RFC 8017 appendix A.1.1: an RSA key in PKCS #1 is the same key', () => {
    const { publicKey } = PAIRS['RSA of 2048 bits'];
    expect(read(pem(publicKey, 'pkcs1'))).toEqual(kept(publicKey));
  });

  test('RFC 7486 appendix B: base64url between the PEM lines gives the same key', () => {
    const { publicKey } = PAIRS['RSA of 2048 bits'];
    const body = der(publicKey).toString('base64url');
    const text = `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----`;
    expect(read(text, 'HOBA')).toEqual(kept(publicKey));
  });

  test('a PEM body with as many dashes as its lines gives the same key', () => {
    const n = Buffer.from('fbefbe'.repeat(86).slice(0, 512), 'hex').toString('base64url');
    const key = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' });
    const body = der(key).toString('base64url');
    expect(body).toContain('-----');
    const text = `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----`;
    expect(read(text, 'HOBA')).toEqual(kept(key));
  });

  test('RFC 5480 section 2.2: a compressed point gives the same key', () => {
    const { publicKey } = PAIRS['P-256'];
    const whole = der(publicKey);
    const point = ECDH.convertKey(
      whole.subarray(-65),
      'prime256v1',
      undefined,
      undefined,
      'compressed',
    );
    const compressed = Buffer.concat([
      Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
      Buffer.from(point),
    ]);
    expect(read(compressed)).toEqual(kept(publicKey));
  });

  test('RFC 7518 section 6.3.1: a number with leading zeros gives the same key', () => {
    const { publicKey } = PAIRS['RSA of 2048 bits'];
    const jwk = asJwk(publicKey);
    const padded = { ...jwk, n: `AAAA${jwk['n']}`, e: `AAAA${jwk['e']}` };
    expect(read(padded)).toEqual(kept(publicKey));
    expect(keptJwk(padded)).toEqual(kept(publicKey));
  });
});

describe('refused public keys', () => {
  const refusal = (...asked: Parameters<typeof read>) => {
    try {
      return read(...asked).id;
    } catch (error) {
      if (error instanceof PublicKeyError) return error.message;
      throw error;
    }
  };

  test.each(Object.entries(REFUSED))('%s, in DER and in PEM, by its type', (type, key) => {
    for (const scheme of ['Concealed', 'HOBA'] as const) {
      for (const form of [der(key), pem(key)]) {
        expect(refusal(form, scheme)).toMatch(`is a key of type ${type}; ${scheme} takes `);
      }
    }
  });

  test.each(['ec secp256k1', 'ec secp521r1', 'ed448', 'x25519', 'rsa 2040'] as const)(
    '%s is refused as a JWK',
    (type) => expect(refusal(asJwk(REFUSED[type]))).toMatch(`is a key of type ${type}; `),
  );

  test('RFC 7486 section 9.3: HOBA refuses keys that are not RSA', () => {
    for (const [name, { publicKey }] of Object.entries(PAIRS)) {
      const said = refusal(der(publicKey), 'HOBA');
      if (name.startsWith('RSA')) expect(said).toBe(kept(publicKey).id);
      else expect(said).toMatch(/; HOBA takes RSA of 2048 to 8192 bits/);
    }
  });

  test.each([
    ['an exponent of 3', 'Aw'],
    ['an even exponent', 'AQAC'],
    ['an exponent of 33 bits', 'AQAAAAE'],
    ['an exponent of 1', 'AQ'],
    ['no exponent', ''],
  ])('an RSA key with %s is refused', (_, e) => {
    const jwk = { ...asJwk(PAIRS['RSA of 2048 bits'].publicKey), e };
    for (const scheme of ['Concealed', 'HOBA'] as const) {
      expect(refusal(jwk, scheme)).toMatch(/^is a key of type rsa 2048; |^is no public key/);
    }
  });

  test('RSA keys of 0 bits, and of more bits than can be verified in reasonable time, are refused', () => {
    const jwk = asJwk(PAIRS['RSA of 2048 bits'].publicKey);
    const n = Buffer.alloc(1025, 0xff).toString('base64url');
    expect(refusal({ ...jwk, n })).toMatch('rsa 8200');
    expect(refusal({ ...jwk, n: 'AA' })).toMatch(/^is /);
  });

  test.each(Object.entries(PAIRS))('the private half of %s', (name, { privateKey }) => {
    const message = 'holds a private key: give its public part only';
    expect(refusal(privateKey.export({ format: 'pem', type: 'pkcs8' }))).toBe(message);
    expect(refusal(asJwk(privateKey))).toBe(message);
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
    expect(refusal(pkcs8)).toBe('is no public key in PEM, in DER or as a JWK');
    const encrypted = {
      cipher: 'aes-256-cbc',
      passphrase: 'x',
      format: 'pem',
      type: 'pkcs8',
    } as const;
    expect(refusal(privateKey.export(encrypted))).toBe(message);
    if (!name.startsWith('RSA')) return;
    const pkcs1 = privateKey.export({ format: 'pem', type: 'pkcs1' });
    expect(refusal(pkcs1)).toBe(message);
    expect(refusal(pkcs1.replaceAll('RSA PRIVATE', 'RSA PUBLIC'))).toBe(message);
  });

  test('a symmetric key, a set of keys, a key for encryption, and any text that is no key are refused', () => {
    const jwk = asJwk(PAIRS['P-256'].publicKey);
    expect(refusal({ kty: 'oct', k: 'AAAA' })).toMatch('private key');
    expect(refusal({ ...jwk, use: 'enc' })).toMatch('something else than signatures');
    const text = pem(PAIRS['P-256'].publicKey);
    for (const none of [
      { keys: [jwk] },
      { ...jwk, x: jwk['y'], y: jwk['x'] },
      { ...jwk, x: undefined },
      { ...jwk, crv: 'P-384' },
      { kty: 1 },
      '',
      '{',
      JSON.stringify(jwk).replace('{', '{"kty":"RSA",'),
      '{}',
      '-----BEGIN PUBLIC KEY-----',
      text + text,
      `${text}x`,
      text.replace('BEGIN', 'BEGIN RSA'),
      text.replaceAll('PUBLIC KEY', 'RSA PUBLIC KEY'),
      text.replaceAll('PUBLIC KEY', 'CERTIFICATE'),
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJzlhT5pFX4wvWTw8RJ2ZwkbPnHj7oMmpPwfc0rdPwxJ',
    ]) {
      expect(refusal(none)).toBe('is no public key in PEM, in DER or as a JWK');
    }
  });

  test('a point that is not on the curve is refused', () => {
    const spki = Buffer.from(der(PAIRS['P-256'].publicKey));
    spki.writeUInt8((spki.at(-1) ?? 0) ^ 1, spki.length - 1);
    expect(refusal(spki)).toMatch('is no public key');
  });
});

describe('any bytes give a key or a PublicKeyError', () => {
  const ends = (content: Uint8Array) => {
    try {
      const { id, spki } = readPublicKey(content, 'Concealed');
      const key = createPublicKey({
        key: Buffer.from(spki, 'base64url'),
        format: 'der',
        type: 'spki',
      });
      expect({ id, spki }).toEqual(kept(key));
    } catch (error) {
      expect(error).toBeInstanceOf(PublicKeyError);
    }
  };

  test('random bytes give a key or a PublicKeyError', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), ends), { numRuns: 500 });
  });

  test('valid keys that are truncated or have a changed octet give a key or a PublicKeyError', () => {
    const forms = Object.values(PAIRS).flatMap(({ publicKey }) => [
      der(publicKey),
      Buffer.from(pem(publicKey)),
      Buffer.from(JSON.stringify(asJwk(publicKey))),
    ]);
    fc.assert(
      fc.property(fc.constantFrom(...forms), fc.nat(), fc.nat(255), (form, at, octet) => {
        const changed = Buffer.from(form);
        changed[at % form.length] = octet;
        ends(changed);
        ends(form.subarray(0, at % form.length));
      }),
      { numRuns: 500 },
    );
  });

  test('any JSON as a JWK, of a client or of a proof, gives a key or a PublicKeyError', () => {
    const member = fc.oneof(
      fc.string(),
      fc.constantFrom('EC', 'RSA', 'OKP', 'P-256', 'Ed25519', 'AQAB'),
      fc.json(),
    );
    const jwk = fc.dictionary(
      fc.constantFrom('kty', 'crv', 'x', 'y', 'n', 'e', 'd', 'use'),
      member,
    );
    fc.assert(
      fc.property(jwk, (one) => {
        ends(Buffer.from(JSON.stringify(one)));
        expect(keptJwk(one)?.id ?? '').toMatch(/^([\w-]{43})?$/);
      }),
      { numRuns: 500 },
    );
  });
});
