import { constants, generateKeyPairSync, privateDecrypt, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { emsaPssEncode } from './blind-rsa-client.ts';
import rfc9474 from './vectors/rfc9474-blind-rsa.json' with { type: 'json' };

const hex = (text: string) => Buffer.from(text, 'hex');

describe('RFC 8017 section 9.1.1: EMSA-PSS-ENCODE', () => {
  const vectors = rfc9474.filter(({ encoded_msg }) => encoded_msg !== undefined);

  test('RFC 9474 appendix A has three vectors', () => expect(vectors).toHaveLength(3));

  test.each(vectors)('RFC 9474 appendix A: $name', ({ input_msg, salt, encoded_msg = '' }) => {
    const expected = hex(encoded_msg);
    expect(emsaPssEncode(hex(input_msg), hex(salt), expected.length)).toEqual(expected);
  });

  test('OpenSSL finds the salt and the message in the encoded message', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const bare = { key: privateKey, padding: constants.RSA_NO_PADDING };
    const octets = (maxLength: number) => fc.uint8Array({ maxLength });
    fc.assert(
      fc.property(octets(300), octets(206), (message, salt) => {
        const signature = privateDecrypt(bare, emsaPssEncode(message, salt, 256));
        const pss = {
          key: publicKey,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: salt.length,
        };
        expect(verify('sha384', message, pss, signature)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
