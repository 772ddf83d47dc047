import { describe, expect, test } from '@jest/globals';
import type1Go from '../../../shared/private-token/vectors/rfc9578-type1-go.json' with { type: 'json' };
import type1Rust from '../../../shared/private-token/vectors/rfc9578-type1-rust.json' with { type: 'json' };
import type2Go from '../../../shared/private-token/vectors/rfc9578-type2-go.json' with { type: 'json' };
import { beginIssuance, isSupported } from './issuance.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

const VECTORS = [
  { source: 'appendix A.1 (Go)', vectors: type1Go },
  { source: 'appendix A.1 (Rust)', vectors: type1Rust },
  { source: 'appendix A.2 (Go)', vectors: type2Go },
].flatMap(({ source, vectors }) =>
  vectors.map((vector, at) => ({ source: `${source}, ${at + 1}`, ...vector })),
);

/** Returns the random values of a vector. Nonce, salt and blind differ in length. */
function drawn(vector: { nonce: string; blind: string; salt?: string }) {
  const draws = [vector.nonce, vector.blind, vector.salt ?? ''].map(hex);
  return (octets: number) => draws.find(({ length }) => length === octets) ?? Buffer.alloc(0);
}

describe.each(VECTORS)('RFC 9578 $source', (vector) => {
  const { token_challenge: challenge, pkS, token_request: request, token } = vector;
  const response = hex(vector.token_response);
  const issuance = beginIssuance(hex(challenge), hex(pkS), drawn(vector));

  test("the request and the token equal the vector's", () => {
    expect(issuance.request).toEqual(hex(request));
    expect(issuance.finish(response)).toEqual(hex(token));
  });

  test('a truncated, extended or changed response gives no token', () => {
    const changed = [0, 48, 49, 96, 144].map((at) => {
      const octets = Buffer.from(response);
      octets[at] = (octets[at] ?? 0) ^ 0x10;
      return octets;
    });
    for (const octets of [response.subarray(0, -1), Buffer.concat([response, Buffer.of(0)])]) {
      changed.push(octets);
    }
    for (const octets of changed) expect(() => issuance.finish(octets)).toThrow();
  });
});

test('the response to one request gives no token for another (RFC 9578 sections 5.3 and 6.3)', () => {
  for (const [one, other] of [type1Go.slice(0, 2), type2Go.slice(0, 2)]) {
    if (one === undefined || other === undefined) throw new Error('no vectors');
    const challenge = hex(one.token_challenge);
    const issuance = beginIssuance(challenge, hex(one.pkS), drawn(one));
    expect(() => issuance.finish(hex(other.token_response))).toThrow();
  }
});

test('a key of the other type is refused', () => {
  const [one, two] = [type1Go[0], type2Go[0]];
  if (one === undefined || two === undefined) throw new Error('no vectors');
  expect(() => beginIssuance(hex(one.token_challenge), hex(two.pkS), drawn(one))).toThrow();
  expect(() => beginIssuance(hex(two.token_challenge), hex(one.pkS), drawn(two))).toThrow();
});

test.each([0x0000, 0x0003, 0x02aa, 0xda7a, 0xf057])('an unknown type %i is refused', (type) => {
  expect(isSupported(type)).toBe(false);
  const challenge = Buffer.of(type >> 8, type & 0xff);
  expect(() => beginIssuance(challenge, Buffer.alloc(49), Buffer.alloc)).toThrow('token type');
});
