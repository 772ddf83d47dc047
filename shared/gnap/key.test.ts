import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadKey, readKey } from './key.ts';

const pair = generateKeyPairSync('ed25519');
const exported = pair.publicKey.export({ format: 'jwk' });
const JWK = { ...exported, kid: 'k1', alg: 'Ed25519' };
const KEY = { proof: 'httpsig', jwk: JWK };
const ec = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
const RSA = rsa(2048);

describe('RFC 9635 section 7.1: accepted keys', () => {
  test.each([
    ['Ed25519', exported],
    ['EdDSA', exported],
    ['ES256', ec('P-256')],
    ['ES384', ec('P-384')],
    ['RS256', RSA],
    ['PS256', RSA],
    ['PS512', RSA],
  ])('a key for %s is accepted', (alg, jwk) => {
    expect(readKey({ proof: 'httpsig', jwk: { ...jwk, kid: 'k1', alg } })).toMatchObject({
      algorithm: { alg },
      kid: 'k1',
      digest: 'sha-256',
    });
  });

  test('the thumbprint depends only on the key, not on its kid and alg (RFC 7638)', () => {
    const { thumbprint } = readKey(KEY);
    expect(readKey({ ...KEY, jwk: { ...JWK, kid: 'k2', alg: 'EdDSA' } }).thumbprint).toBe(
      thumbprint,
    );
  });

  test('section 7.3.1: the object form names the algorithm and the digest', () => {
    const proof = { method: 'httpsig', alg: 'ed25519', 'content-digest-alg': 'sha-512' };
    expect(readKey({ ...KEY, proof })).toMatchObject({ digest: 'sha-512' });
  });
});

describe('refused keys', () => {
  const object = { method: 'httpsig', alg: 'ed25519', 'content-digest-alg': 'sha-256' };
  test.each<[string, unknown]>([
    ['no object', 'a-reference'],
    ['null', null],
    ['no format', { proof: 'httpsig' }],
    ['two formats', { ...KEY, cert: 'MII' }],
    ['a certificate', { proof: 'httpsig', cert: 'MII' }],
    ['an invalid certificate', { proof: 'mtls', cert: 'MII' }],
    ['a jwk for mtls', { proof: 'mtls', jwk: JWK }],
    ['a thumbprint that is short', { proof: 'mtls', 'cert#S256': 'abc' }],
    ['a jwk that is text', { ...KEY, jwk: JSON.stringify(JWK) }],
    ['a private key', { ...KEY, jwk: { ...JWK, ...pair.privateKey.export({ format: 'jwk' }) } }],
    ['a symmetric key', { ...KEY, jwk: { kty: 'oct', k: 'c2VjcmV0', kid: 'k1', alg: 'HS256' } }],
    ['a symmetric algorithm', { ...KEY, jwk: { ...JWK, alg: 'HS256' } }],
    ['alg none', { ...KEY, jwk: { ...JWK, alg: 'none' } }],
    ['no alg', { ...KEY, jwk: { ...exported, kid: 'k1' } }],
    ['no kid', { ...KEY, jwk: { ...exported, alg: 'Ed25519' } }],
    ['an empty kid', { ...KEY, jwk: { ...JWK, kid: '' } }],
    ['a kid that is a number', { ...KEY, jwk: { ...JWK, kid: 1 } }],
    ['a long kid', { ...KEY, jwk: { ...JWK, kid: 'k'.repeat(257) } }],
    ['an alg of another key', { ...KEY, jwk: { ...JWK, alg: 'ES256' } }],
    ['a key for encryption', { ...KEY, jwk: { ...JWK, use: 'enc' } }],
    ['an RSA key of 1024 bits', { ...KEY, jwk: { ...rsa(1024), kid: 'k1', alg: 'RS256' } }],
    ['no proof', { jwk: JWK }],
    ['the proof method jws', { ...KEY, proof: 'jws' }],
    ['the proof method jwsd', { ...KEY, proof: 'jwsd' }],
    ['an object for jws', { ...KEY, proof: { ...object, method: 'jws' } }],
    ['an object without alg', { ...KEY, proof: { ...object, alg: undefined } }],
    ['an alg that the key has not', { ...KEY, proof: { ...object, alg: 'rsa-pss-sha512' } }],
    ['an alg that is no text', { ...KEY, proof: { ...object, alg: { toString: 1, valueOf: 1 } } }],
    ['an alg of no registry', { ...KEY, proof: { ...object, alg: 'Ed25519' } }],
    ['hmac-sha256', { ...KEY, proof: { ...object, alg: 'hmac-sha256' } }],
    ['no content-digest-alg', { ...KEY, proof: { ...object, 'content-digest-alg': undefined } }],
    ['the digest md5', { ...KEY, proof: { ...object, 'content-digest-alg': 'md5' } }],
  ])('a key is refused: %s', (_what, key) => {
    expect(() => readKey(key)).toThrow(BadKey);
  });
});

test('any value gives a key or BadKey', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constant('httpsig'), fc.constant('mtls'));
  const like = fc.record(
    {
      proof: member,
      jwk: fc.oneof(
        member,
        fc.record({ kty: member, x: member, kid: fc.string(), alg: fc.constant('Ed25519') }),
      ),
      cert: member,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), like), (value) => {
      try {
        expect(readKey(value).thumbprint).toMatch(/^[\w-]{43}$/);
      } catch (error) {
        expect(error).toBeInstanceOf(BadKey);
      }
    }),
  );
});
