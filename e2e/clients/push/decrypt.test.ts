import { createECDH, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import webpush from 'web-push';
import { decrypt } from './decrypt.ts';
import { newReceiverKeys, type ReceiverKeys, sharedKeys } from './receiver-keys.ts';

/** RFC 8291 section 5. */
const EXAMPLE = {
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  publicKey:
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

function exampleKeys(): ReceiverKeys {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(EXAMPLE.privateKey, 'base64url');
  return { ecdh, auth: Buffer.from(EXAMPLE.auth, 'base64url') };
}

const body = Buffer.from(EXAMPLE.body, 'base64url');

describe('the user agent decrypts (RFC 8291)', () => {
  test('decrypts the example of section 5 and appendix A', () => {
    const keys = exampleKeys();
    expect(keys.ecdh.getPublicKey('base64url')).toBe(EXAMPLE.publicKey);
    expect(decrypt(keys, body).toString()).toBe('When I grow up, I want to be a watermelon');
  });

  test('refuses a change of any octet, and a shorter or longer message', () => {
    const keys = exampleKeys();
    for (let index = 0; index < body.length; index += 1) {
      // The record size is only an upper bound.
      if (index >= 16 && index < 20) continue;
      const changed = Buffer.from(body);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => decrypt(keys, changed)).toThrow();
    }
    for (let length = 0; length < body.length; length += 1) {
      expect(() => decrypt(keys, body.subarray(0, length))).toThrow();
    }
    expect(() => decrypt(keys, Buffer.concat([body, Buffer.alloc(1)]))).toThrow();
  });

  test("decrypts web-push's messages of every length that fits, and none for another key", () => {
    const keys = newReceiverKeys();
    for (const length of [0, 1, 100, 3993]) {
      const text = randomBytes(length);
      const { p256dh, auth } = sharedKeys(keys);
      const { cipherText } = webpush.encrypt(p256dh, auth, text, 'aes128gcm');
      expect(decrypt(keys, cipherText)).toEqual(text);
      expect(() => decrypt(newReceiverKeys(), cipherText)).toThrow();
      expect(() => decrypt({ ...keys, auth: randomBytes(16) }, cipherText)).toThrow();
    }
  });
});
