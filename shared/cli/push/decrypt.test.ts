import { createCipheriv, createECDH, hkdfSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import webpush from 'web-push';
import { systemRandom } from '#shared/base/random.ts';
import { createReceiver, decrypt, type Receiver } from './decrypt.ts';

/** The message of RFC 8291 section 5. */
const MESSAGE = Buffer.from(
  'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  'base64url',
);
/** Start and end of the record size. */
const [SIZE_AT, SIZE_END] = [16, 20];

function exampleReceiver(): Receiver {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url');
  return { ecdh, auth: Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url') };
}

/** Encrypts as web-push does, with any octets in place of content and padding. */
function encrypt({ ecdh, auth }: Receiver, padded: Buffer, recordSize = 4096): Buffer {
  const sender = createECDH('prime256v1');
  const keyId = sender.generateKeys();
  const salt = systemRandom(16);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), keyId]);
  const secret = sender.computeSecret(ecdh.getPublicKey());
  const shared = new Uint8Array(hkdfSync('sha256', secret, auth, info, 32));
  const derive = (name: string, length: number) =>
    new Uint8Array(hkdfSync('sha256', shared, salt, `Content-Encoding: ${name}\0`, length));
  const cipher = createCipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(recordSize);
  const record = Buffer.concat([cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([salt, size, Buffer.of(keyId.length), keyId, record]);
}

describe('RFC 8291', () => {
  test('section 5: the example is decrypted', () => {
    const content = decrypt(MESSAGE, exampleReceiver());
    expect(content?.toString()).toBe('When I grow up, I want to be a watermelon');
  });

  test('a message that lacks octets, or has one more, is refused', () => {
    const receiver = exampleReceiver();
    for (let length = 0; length < MESSAGE.length; length += 1) {
      expect(decrypt(MESSAGE.subarray(0, length), receiver)).toBeUndefined();
    }
    expect(decrypt(Buffer.concat([MESSAGE, Buffer.of(0)]), receiver)).toBeUndefined();
  });

  test('a message with a changed octet is refused, except in the record size, which is only a limit', () => {
    const receiver = exampleReceiver();
    for (let at = 0; at < MESSAGE.length; at += 1) {
      if (at >= SIZE_AT && at < SIZE_END) continue;
      for (const bits of [1, 2, 0x80, 0xff]) {
        const changed = Buffer.from(MESSAGE);
        changed[at] = (changed[at] ?? 0) ^ bits;
        expect(decrypt(changed, receiver)).toBeUndefined();
      }
    }
  });

  test('a message for another key, or another authentication secret, is refused', () => {
    const [one, other] = [exampleReceiver(), createReceiver(systemRandom)];
    expect(decrypt(MESSAGE, other)).toBeUndefined();
    expect(decrypt(MESSAGE, { ...one, auth: other.auth })).toBeUndefined();
  });

  test('section 4: a message of more than one record is refused', () => {
    const receiver = createReceiver(systemRandom);
    const padded = Buffer.from('text\u0002');
    expect(decrypt(encrypt(receiver, padded, 21), receiver)?.toString()).toBe('text');
    expect(decrypt(encrypt(receiver, padded, 20), receiver)).toBeUndefined();
  });

  test.each([
    ['zeros behind the delimiter are padding', 'text\u0002\0\0\0', 'text'],
    ['zeros of the content stay', 'text\0\0\u0002\0', 'text\0\0'],
    ['content may end in the delimiter', 'text\u0002\u0002', 'text\u0002'],
    ['a record that is not the last one is refused', 'text\u0001', undefined],
    ['a record without a delimiter is refused', 'text', undefined],
    ['a record of nothing but zeros is refused', '\0\0\0', undefined],
  ])('RFC 8188 section 2: %s', (_, padded, content) => {
    const receiver = createReceiver(systemRandom);
    expect(decrypt(encrypt(receiver, Buffer.from(padded)), receiver)?.toString()).toBe(content);
  });

  test.each([0, 1, 2, 1000, 3993])('web-push: %i octets are decrypted', (length) => {
    const receiver = createReceiver(systemRandom);
    const [key, auth] = [receiver.ecdh.getPublicKey('base64url'), receiver.auth];
    const content = systemRandom(length);
    const { salt, localPublicKey, cipherText } = webpush.encrypt(
      key,
      auth.toString('base64url'),
      content,
      'aes128gcm',
    );
    expect([salt, localPublicKey]).toEqual([expect.any(String), expect.anything()]);
    expect(decrypt(cipherText, receiver)).toEqual(content);
  });
});
