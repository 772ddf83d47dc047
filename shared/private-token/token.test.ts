import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseToken, type Token, tokenInput } from './token.ts';
import { BLIND_RSA, TOKEN_TYPES, type TokenType, VOPRF } from './token-types.ts';
import rfc9577 from './vectors/rfc9577-token.json' with { type: 'json' };
import type1 from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import type2 from './vectors/rfc9578-type2-go.json' with { type: 'json' };

const hex = (text: string) => Buffer.from(text, 'hex');
const INPUT = 2 + 32 + 32 + 32;

const encode = ({ type, nonce, challengeDigest, keyId, authenticator }: Token) =>
  Buffer.concat([tokenInput(type, nonce, challengeDigest, keyId), authenticator]);

const token = (type: TokenType) =>
  Buffer.concat([
    tokenInput(type, Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)),
    Buffer.alloc(TOKEN_TYPES[type].authenticator, 4),
  ]);

const TYPES = [VOPRF, BLIND_RSA] as const;

describe('RFC 9577 section 2.2.3: AuthenticatorInput', () => {
  const vectors = rfc9577.filter(({ nonce }) => nonce !== undefined);

  test('appendix A.1 has five vectors', () => expect(vectors).toHaveLength(5));

  test.each(vectors)('appendix A.1: $comment', (vector) => {
    const expected = hex(vector.token_authenticator_input);
    const [nonce, keyId] = [hex(vector.nonce ?? ''), hex(vector.token_key_id ?? '')];
    expect(tokenInput(BLIND_RSA, nonce, expected.subarray(34, 66), keyId)).toEqual(expected);
  });

  test('appendix A.1: the token for greasing is refused', () => {
    const greased = rfc9577.filter(({ token_type }) => token_type === '0000');
    expect(greased).toHaveLength(1);
    for (const vector of greased) {
      expect(parseToken(hex(vector.token_authenticator_input))).toBeUndefined();
    }
  });
});

describe('RFC 9577 section 2.2.1: Token', () => {
  test.each([...type1, ...type2])('RFC 9578 appendix A: $token', (vector) => {
    const bytes = hex(vector.token);
    const parsed = parseToken(bytes);
    expect(parsed).toMatchObject({
      type: bytes.readUInt16BE(),
      nonce: hex(vector.nonce),
      input: bytes.subarray(0, INPUT),
      authenticator: bytes.subarray(INPUT),
    });
    expect(parsed && encode(parsed)).toEqual(bytes);
  });

  test.each(TYPES)('a token of type %d has each field in its place', (type) => {
    expect(parseToken(token(type))).toEqual({
      type,
      nonce: Buffer.alloc(32, 1),
      challengeDigest: Buffer.alloc(32, 2),
      keyId: Buffer.alloc(32, 3),
      authenticator: Buffer.alloc(TOKEN_TYPES[type].authenticator, 4),
      input: token(type).subarray(0, INPUT),
    });
  });

  test.each(TYPES)('a token of type %d is refused if it is cut anywhere', (type) => {
    const bytes = token(type);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(parseToken(bytes.subarray(0, length))).toBeUndefined();
    }
  });

  test.each(TYPES)('a token of type %d is refused with octets behind it', (type) => {
    for (const more of [1, 2, 48, 256]) {
      expect(parseToken(Buffer.concat([token(type), Buffer.alloc(more)]))).toBeUndefined();
    }
  });

  test('a token is refused with the length of the other type', () => {
    const [first, second] = [token(VOPRF), token(BLIND_RSA)];
    first.writeUInt16BE(BLIND_RSA);
    second.writeUInt16BE(VOPRF);
    expect(parseToken(first)).toBeUndefined();
    expect(parseToken(second)).toBeUndefined();
  });

  test.each([0x0000, 0x0003, 0x0005, 0x02aa, 0x0100, 0x0200, 0xda7a, 0xffff])(
    'section 5.2: a token of the unknown type %d is refused',
    (type) => {
      for (const known of TYPES) {
        const bytes = token(known);
        bytes.writeUInt16BE(type);
        expect(parseToken(bytes)).toBeUndefined();
      }
    },
  );

  test('a parsed token does not change with the octets that it was read from', () => {
    const pool = Buffer.concat([Buffer.alloc(5, 9), token(VOPRF), Buffer.alloc(5, 9)]);
    const parsed = parseToken(pool.subarray(5, -5));
    pool.fill(0);
    expect(parsed && encode(parsed)).toEqual(token(VOPRF));
    expect(parsed?.input).toEqual(token(VOPRF).subarray(0, INPUT));
  });

  test('any octets give undefined, or a token that encodes to the same octets', () => {
    const ofType = fc
      .tuple(fc.constantFrom(...TYPES), fc.integer({ min: -1, max: 1 }))
      .chain(([type, off]) => {
        const length = INPUT - 2 + TOKEN_TYPES[type].authenticator + off;
        return fc
          .uint8Array({ minLength: length, maxLength: length })
          .map((octets) => Buffer.concat([Buffer.of(0, type), octets]));
      });
    fc.assert(
      fc.property(fc.oneof(ofType, fc.uint8Array({ maxLength: 400 })), (bytes) => {
        const parsed = parseToken(bytes);
        if (parsed !== undefined) expect(encode(parsed)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 1000 },
    );
  });
});
