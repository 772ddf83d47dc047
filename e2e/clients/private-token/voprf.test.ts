import { describe, expect, test } from '@jest/globals';
import data from '../../../shared/private-token/vectors/rfc9497-voprf.json' with { type: 'json' };
import { GENERATOR, ORDER, deserialize, multiply, serialize } from './p384.ts';
import { blindVoprf, outputOf, proves } from './voprf.ts';
import { toInteger, toOctets } from './numbers.ts';

interface Vector {
  readonly Batch: number;
  /** A batch has several inputs, separated by commas. */
  readonly Input: string;
  readonly Blind: string;
  readonly BlindedElement: string;
  readonly EvaluationElement: string;
  readonly Output: string;
  readonly Proof?: { readonly proof: string };
}

const VOPRF = 1;
const suite = data.find(({ identifier, mode }) => identifier === 'P384-SHA384' && mode === VOPRF);
const key = Buffer.from(suite?.pkSm ?? '', 'hex');
const vectors: readonly Vector[] = suite?.vectors ?? [];

const list = (text: string) => text.split(',').map((one) => Buffer.from(one, 'hex'));
const read = (vector: Vector) => ({
  inputs: list(vector.Input),
  blinds: list(vector.Blind),
  blinded: list(vector.BlindedElement),
  evaluated: list(vector.EvaluationElement),
  outputs: list(vector.Output),
  proof: Buffer.from(vector.Proof?.proof ?? '', 'hex'),
});

test('RFC 9497 section A.4.2 has three vectors, one of them a batch', () => {
  expect(vectors.map(({ Batch }) => Batch)).toEqual([1, 1, 2]);
});

describe.each(vectors)('RFC 9497 section A.4.2: $Input', (vector) => {
  const { inputs, blinds, blinded, evaluated, outputs, proof } = read(vector);

  test("Blind, and Finalize without the proof, give the vector's values", () => {
    for (const [at, input] of inputs.entries()) {
      const blind = blinds[at] ?? Buffer.alloc(0);
      expect(blindVoprf(key, input, () => blind).request).toEqual(blinded[at]);
      const element = deserialize(evaluated[at] ?? Buffer.alloc(0));
      expect(outputOf(input, toInteger(blind), element)).toEqual(outputs[at]);
    }
  });

  test('VerifyProof accepts this key and these elements only', () => {
    const [from, to] = [blinded.map(deserialize), evaluated.map(deserialize)];
    const right = deserialize(key);
    expect(proves(proof, right, from, to)).toBe(true);
    expect(proves(proof, multiply(2n, right), from, to)).toBe(false);
    expect(proves(proof, right, to, from)).toBe(false);
    expect(proves(proof, right, [GENERATOR, ...from.slice(1)], to)).toBe(false);
  });
});

describe('a response (RFC 9578 section 5.3)', () => {
  const [vector] = vectors;
  if (vector === undefined) throw new Error('no vector');
  const { inputs, blinds, evaluated, outputs, proof } = read(vector);
  const client = blindVoprf(key, inputs[0] ?? key, () => blinds[0] ?? key);
  const response = Buffer.concat([...evaluated, proof]);

  test('that is right gives the output', () => {
    expect(client.finalize(response)).toEqual(outputs[0]);
  });

  test('with any octet changed is refused', () => {
    for (const at of response.keys()) {
      const changed = Buffer.from(response);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => client.finalize(changed)).toThrow();
    }
  });

  test('is refused if it has another length', () => {
    for (const other of [response.subarray(0, -1), Buffer.concat([response, Buffer.of(0)])]) {
      expect(() => client.finalize(other)).toThrow(RangeError);
    }
  });

  test('is refused if the issuer used another key', () => {
    const wrong = serialize(multiply(3n, deserialize(client.request)));
    expect(() => client.finalize(Buffer.concat([wrong, proof]))).toThrow('did not use the key');
  });

  test('is refused if its proof is not reduced (RFC 9497 section 2.1, DeserializeScalar)', () => {
    const most = Buffer.concat([...evaluated, toOctets(ORDER, 48), proof.subarray(48)]);
    expect(() => client.finalize(most)).toThrow('did not use the key');
  });
});

test('a blind of 0, or not below the order, is drawn again (RFC 9497 section 2.1, RandomScalar)', () => {
  const draws = [Buffer.alloc(48), toOctets(ORDER, 48), toOctets(7, 48)];
  const drawn = blindVoprf(key, key, () => draws.shift() ?? Buffer.alloc(0));
  expect(drawn.request).toEqual(blindVoprf(key, key, () => toOctets(7, 48)).request);
  expect(draws).toEqual([]);
});

test('a key that is not a point is refused', () => {
  expect(() => blindVoprf(key.subarray(1), key, () => Buffer.alloc(48, 1))).toThrow(RangeError);
});
