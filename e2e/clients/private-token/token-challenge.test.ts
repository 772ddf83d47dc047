import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import vectors from '../../../shared/private-token/vectors/rfc9577-token.json' with { type: 'json' };
import type2 from '../../../shared/private-token/vectors/rfc9578-type2-go.json' with { type: 'json' };
import { beginIssuance, isSupported } from './issuance.ts';
import { encodeChallenge, readChallenge } from './token-challenge.ts';

const hex = (text = '') => Buffer.from(text, 'hex');
const ascii = (text?: string) => hex(text).toString('ascii');

const CHALLENGE = {
  type: 2,
  issuer: 'issuer.example:8443',
  context: Buffer.alloc(32, 7),
  origins: ['origin.example', '[2001:db8::1]:443'],
};

const RESERVED = '0000';
const known = vectors.filter(({ token_type: type }) => type !== RESERVED);

test('RFC 9577 appendix A.1: the last vector has a type that every client must ignore', () => {
  expect(vectors.length - known.length).toBe(1);
  expect(isSupported(Number(RESERVED))).toBe(false);
});

describe.each(known)('RFC 9577 appendix A.1: $comment', (vector) => {
  const challenge = {
    type: Number(`0x${vector.token_type}`),
    issuer: ascii(vector.issuer_name),
    context: hex(vector.redemption_context),
    origins: vector.origin_info === '' ? [] : ascii(vector.origin_info).split(','),
  };

  test("the authenticator's input has the challenge's hash, the nonce and the key's hash", () => {
    const nonce = hex(vector.nonce);
    const random = (octets: number) => (octets === nonce.length ? nonce : Buffer.alloc(octets, 1));
    const { input } = beginIssuance(encodeChallenge(challenge), hex(type2[0]?.pkS ?? ''), random);
    expect(input).toEqual(hex(vector.token_authenticator_input));
  });

  test('the challenge is read back', () => {
    expect(readChallenge(encodeChallenge(challenge))).toEqual(challenge);
  });
});

describe('well-formed challenges (RFC 9577 section 2.1.1)', () => {
  test.each([
    ['a context of 31 octets', { context: Buffer.alloc(31) }],
    ['a context of 33 octets', { context: Buffer.alloc(33) }],
    ['no issuer', { issuer: '' }],
    ['an issuer with a user', { issuer: 'user@issuer.example' }],
    ['an issuer that is a URL', { issuer: 'https://issuer.example' }],
    ['an issuer with a space', { issuer: 'Issuer Name' }],
    ['two issuers', { issuer: 'a.example,b.example' }],
    ['a space between origins', { origins: ['a.example', ' b.example'] }],
    ['an empty origin among others', { origins: ['a.example', ''] }],
    ['an origin with a path', { origins: ['a.example/'] }],
    ['an origin that is not ASCII', { origins: ['\u00e4.example'] }],
  ])('%s is refused', (_what, changes) => {
    expect(readChallenge(encodeChallenge({ ...CHALLENGE, ...changes }))).toBeUndefined();
  });

  test('a truncated or extended challenge is refused', () => {
    const octets = encodeChallenge(CHALLENGE);
    for (const length of octets.keys()) {
      expect(readChallenge(octets.subarray(0, length))).toBeUndefined();
    }
    expect(readChallenge(Buffer.concat([octets, Buffer.of(0)]))).toBeUndefined();
  });

  test('every accepted challenge is written back unchanged, and any other input is refused without an exception', () => {
    const near = fc.tuple(fc.nat(60), fc.nat(255)).map(([at, octet]) => {
      const octets = encodeChallenge(CHALLENGE);
      octets[at] = octet;
      return octets;
    });
    const random = fc.uint8Array({ maxLength: 80 }).map((octets) => Buffer.from(octets));
    fc.assert(
      fc.property(fc.oneof(near, random), (octets) => {
        const read = readChallenge(octets);
        if (read !== undefined) expect(encodeChallenge(read)).toEqual(octets);
      }),
    );
  });
});
