/** @slow */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { p384 } from '@noble/curves/nist.js';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import { blindEvaluate, evaluate } from './voprf.ts';
import { generateVoprfKey } from './voprf-key.ts';
import { blindVoprf } from './voprf-client.ts';

const key = generateVoprfKey();
const other = generateVoprfKey();
const input = randomBytes(98);
const request = blindVoprf(key.publicKey, input, systemRandom);
const response = answer(request.blinded);
const order = Buffer.from(p384.Point.Fn.ORDER.toString(16), 'hex');

function answer(blinded: Buffer, by = key, named = by): Buffer {
  const answered = blindEvaluate(by.privateKey, named.publicKey, blinded);
  if (answered === undefined) throw new Error('the element was refused');
  return answered;
}

test('RFC 9578 sections 5.1 to 5.4: the token that the client makes from the response verifies', () => {
  expect(request.finalize(response)).toEqual(evaluate(key.privateKey, input));
});

test('RFC 9497 section 3.3.2: the same input is blinded differently each time', () => {
  const again = blindVoprf(key.publicKey, input, systemRandom);
  expect(again.blinded).not.toEqual(request.blinded);
  expect(again.finalize(answer(again.blinded))).toEqual(request.finalize(response));
});

test('RFC 9578 section 5.1: an invalid public key is refused', () => {
  for (const bytes of [Buffer.alloc(49), key.publicKey.subarray(1), Buffer.alloc(0)]) {
    expect(() => blindVoprf(bytes, input, systemRandom)).toThrow(TypeError);
  }
});

describe('RFC 9578 section 5.3: the client aborts', () => {
  const part = (start: number, end?: number) => response.subarray(start, end);
  const [element, challenge, scalar] = [part(0, 49), part(49, 97), part(97)];

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a truncated response', part(0, 144)],
    ['an octet behind it', Buffer.concat([response, Buffer.of(0)])],
    ['an element without a proof', element],
    ['the element that was sent', Buffer.concat([request.blinded, part(49)])],
    ['the identity', Buffer.concat([Buffer.alloc(49), part(49)])],
    ['the negative element', Buffer.concat([Buffer.of(element.at(0) === 2 ? 3 : 2), part(1)])],
    ['a proof of zeros', Buffer.concat([element, Buffer.alloc(96)])],
    ['a challenge of zero', Buffer.concat([element, Buffer.alloc(48), scalar])],
    ['a scalar of zero', Buffer.concat([element, challenge, Buffer.alloc(48)])],
    ['the order as a challenge', Buffer.concat([element, order, scalar])],
    ['the order as a scalar', Buffer.concat([element, challenge, order])],
    ['scalars out of range', Buffer.concat([element, Buffer.alloc(96, 255)])],
    ['the halves of the proof exchanged', Buffer.concat([element, scalar, challenge])],
  ])('the client aborts on %s', (_, bytes) => {
    expect(request.finalize(bytes)).toBeUndefined();
  });

  test('the client aborts on the response to another request', () => {
    const another = blindVoprf(key.publicKey, input, systemRandom);
    expect(request.finalize(answer(another.blinded))).toBeUndefined();
  });

  test('the client aborts on a key other than the published key, which could mark the client', () => {
    expect(request.finalize(answer(request.blinded, other))).toBeUndefined();
    expect(request.finalize(answer(request.blinded, other, key))).toBeUndefined();
  });

  test('the client aborts on a response with any bit changed', () => {
    const bits = fc.nat({ max: response.length * 8 - 1 });
    const changed = (bit: number) => {
      const bytes = Buffer.from(response);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return bytes;
    };
    fc.assert(
      fc.property(bits, (bit) => expect(request.finalize(changed(bit))).toBeUndefined()),
      { numRuns: 40 },
    );
  });

  test('the client aborts on any octets without an exception', () => {
    const any = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 145, maxLength: 145 }));
    fc.assert(fc.property(any, (bytes) => expect(request.finalize(bytes)).toBeUndefined()));
  });

  test('after an abort the client can still use the right response', () => {
    expect(request.finalize(response)).toEqual(evaluate(key.privateKey, input));
  });
});
