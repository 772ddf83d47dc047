import { expect, test } from '@jest/globals';
import { encodeContext, varint } from './exporter-context.ts';

const hex = (...lines: readonly string[]) => Buffer.from(lines.join(''), 'hex');

/** The key ID and the public key of figure 5. */
const CONTEXT = {
  algorithm: 2055,
  keyId: Buffer.from('basement'),
  publicKey: Buffer.from('VGhpcyBpcyBh-HB1YmxpYyBrZXkgaW4gdXNl_GhlcmU', 'base64url'),
  scheme: 'https',
  host: 'www.example.com',
  port: 443,
  realm: '',
};

test('RFC 9729 section 3.1: each field equals a handwritten one, with the names of figure 5', () => {
  expect(encodeContext(CONTEXT)).toEqual(
    hex(
      '0807', // ed25519
      '08626173656d656e74', // basement
      '205468697320697320',
      '61f87075626c6963',
      '206b657920696e20',
      '757365fc68657265', // 32 octets
      '056874747073', // https
      '0f7777772e6578616d706c652e636f6d', // www.example.com
      '01bb', // 443
      '00',
    ),
  );
});

test('a length of 65 takes two octets; brackets, another port and a realm are encoded', () => {
  const publicKey = Buffer.alloc(65, 4);
  const changes = { algorithm: 1027, publicKey, host: '[::1]', port: 8443, realm: 'caf\u{e9}' };
  expect(encodeContext({ ...CONTEXT, ...changes })).toEqual(
    hex(
      '0403',
      '08626173656d656e74',
      `4041${'04'.repeat(65)}`,
      '056874747073',
      '055b3a3a315d',
      '20fb',
      '04636166e9',
    ),
  );
});

test.each([
  [0, '00'],
  [37, '25'],
  [63, '3f'],
  [64, '4040'],
  [15_293, '7bbd'],
  [16_383, '7fff'],
  [16_384, '80004000'],
  [494_878_333, '9d7f3e7d'],
])('RFC 9000 section 16 and appendix A.1: %d takes the fewest octets', (value, octets) => {
  expect(varint(value).toString('hex')).toBe(octets);
});
