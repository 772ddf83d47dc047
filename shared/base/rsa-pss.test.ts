import { expect, test } from '@jest/globals';
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { verifyPss } from './rsa-pss.ts';

const { publicKey: key, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const padding = constants.RSA_PKCS1_PSS_PADDING;
const PSS = { key, hash: 'sha256', saltLength: 32 };
const MESSAGE = Buffer.from('a message');

const signed = (saltLength = 32) =>
  sign('sha256', MESSAGE, { key: privateKey, padding, saltLength });

/** Returns a signature with a leading zero octet, as one signature in 256 has. */
function signedWithLeadingZero(): Buffer {
  for (;;) {
    const signature = signed();
    if (signature[0] === 0) return signature;
  }
}

test('RFC 8017 section 8.1.2: a valid signature verifies', () => {
  expect(verifyPss(PSS, MESSAGE, signed())).toBe(true);
});

test('step 1: a signature without its leading zero octet, or with an additional octet, is refused', () => {
  const signature = signedWithLeadingZero();
  expect(verifyPss(PSS, MESSAGE, signature)).toBe(true);
  expect(verifyPss(PSS, MESSAGE, signature.subarray(1))).toBe(false);
  expect(verifyPss(PSS, MESSAGE, Buffer.concat([Buffer.of(0), signature]))).toBe(false);
});

test('a salt of another length, another message and no signature are refused', () => {
  expect(verifyPss(PSS, MESSAGE, signed(20))).toBe(false);
  expect(verifyPss(PSS, Buffer.from('another'), signed())).toBe(false);
  expect(verifyPss(PSS, MESSAGE, Buffer.alloc(0))).toBe(false);
});
