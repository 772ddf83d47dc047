import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { jwksIn, publicJwks } from './public-jwks.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });

const read = (content: unknown) =>
  publicJwks.parse(typeof content === 'string' ? jwksIn(content) : content);

test.each([
  ['EC', jwk],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })],
  ['OKP', generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })],
])('RFC 7517 section 5: a public %s key is kept with all its members', (_, key) => {
  expect(read({ keys: [{ ...key, kid: 'a' }] })).toEqual({ keys: [{ ...key, kid: 'a' }] });
});

test.each([
  ['a private key', { keys: [privateKey.export({ format: 'jwk' })] }, /private key/],
  ['a symmetric key', { keys: [{ kty: 'oct', k: 'AAAA' }] }, /private key/],
  ['a key of another curve', { keys: [{ ...jwk, crv: 'P-384' }] }, /not a public key/],
  ['a point off the curve', { keys: [{ ...jwk, x: jwk.y, y: jwk.x }] }, /not a public key/],
  [
    'an RSA key of 1024 bits',
    {
      keys: [
        generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
      ],
    },
    /not a public key/,
  ],
  ['no key', { keys: [] }, /not a JWK Set/],
  ['one key alone', jwk, /not a JWK Set/],
  ['no JSON', 'keys', /not a JWK Set/],
])('%s is refused', (_, content, reason) => {
  expect(() => read(content)).toThrow(reason);
});
