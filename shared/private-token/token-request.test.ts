import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { encodeTokenRequest, parseTokenRequest } from './token-request.ts';
import { BLIND_RSA, TOKEN_TYPES, type TokenType, VOPRF } from './token-types.ts';
import { tokenKeyId, truncatedKeyId } from './token-key.ts';
import type1 from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import type2 from './vectors/rfc9578-type2-go.json' with { type: 'json' };

const hex = (text: string) => Buffer.from(text, 'hex');
const TYPES = [VOPRF, BLIND_RSA] as const;

const request = (type: TokenType) =>
  encodeTokenRequest({
    type,
    truncatedKeyId: 0xfe,
    blinded: Buffer.alloc(TOKEN_TYPES[type].blinded, 5),
  });

describe('RFC 9578 sections 5.1 and 6.1: TokenRequest', () => {
  test.each([...type1, ...type2])('appendix A: $token_request', (vector) => {
    const bytes = hex(vector.token_request);
    const parsed = parseTokenRequest(bytes);
    expect(parsed?.type).toBe(bytes.readUInt16BE());
    expect(parsed?.truncatedKeyId).toBe(truncatedKeyId(tokenKeyId(hex(vector.pkS))));
    expect(parsed && encodeTokenRequest(parsed)).toEqual(bytes);
  });

  test.each(TYPES)('a request of type %d is refused if it is cut anywhere', (type) => {
    const bytes = request(type);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(parseTokenRequest(bytes.subarray(0, length))).toBeUndefined();
    }
  });

  test.each(TYPES)('a request of type %d is refused with an octet behind it', (type) => {
    expect(parseTokenRequest(Buffer.concat([request(type), Buffer.alloc(1)]))).toBeUndefined();
  });

  test('a request is refused with the length of the other type', () => {
    const [first, second] = [request(VOPRF), request(BLIND_RSA)];
    first.writeUInt16BE(BLIND_RSA);
    second.writeUInt16BE(VOPRF);
    expect(parseTokenRequest(first)).toBeUndefined();
    expect(parseTokenRequest(second)).toBeUndefined();
  });

  test.each([0x0000, 0x0003, 0x0005, 0x0100, 0x0200, 0x02aa, 0xda7a, 0xffff])(
    'a request of the unknown type %d is refused',
    (type) => {
      for (const known of TYPES) {
        const bytes = request(known);
        bytes.writeUInt16BE(type);
        expect(parseTokenRequest(bytes)).toBeUndefined();
      }
    },
  );

  test('a parsed request does not change with the octets that it was read from', () => {
    const bytes = request(VOPRF);
    const parsed = parseTokenRequest(bytes);
    bytes.fill(0);
    expect(parsed && encodeTokenRequest(parsed)).toEqual(request(VOPRF));
  });

  test('any octets give undefined, or a request that encodes to the same octets', () => {
    const ofType = fc
      .tuple(fc.constantFrom(...TYPES), fc.integer({ min: -1, max: 1 }))
      .chain(([type, off]) => {
        const length = 1 + TOKEN_TYPES[type].blinded + off;
        return fc
          .uint8Array({ minLength: length, maxLength: length })
          .map((octets) => Buffer.concat([Buffer.of(0, type), octets]));
      });
    fc.assert(
      fc.property(fc.oneof(ofType, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        const parsed = parseTokenRequest(bytes);
        if (parsed !== undefined) expect(encodeTokenRequest(parsed)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 1000 },
    );
  });
});
