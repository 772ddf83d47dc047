import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeMessage } from './base64.ts';
import { scramKeys } from './keys.ts';
import { formatServerFirst, parseClientFinal, parseClientFirst } from './messages.ts';
import { verifyProof } from './scram.ts';
import { PRINTED_IN_RFC_7804, VECTORS, type Vector } from './vectors.fixture.ts';

async function keysOf({ hash, password, serverFirst }: Vector) {
  const [, salt = '', iterations = ''] = /s=([^,]+),i=(\d+)$/.exec(serverFirst) ?? [];
  const keys = await scramKeys(hash, password, Buffer.from(salt, 'base64'), Number(iterations));
  if (keys === undefined) throw new Error('the password of a vector was refused');
  return keys;
}

const authMessage = ({ clientFirst, serverFirst, withoutProof }: Vector) =>
  [clientFirst.slice('n,,'.length), serverFirst, withoutProof].join(',');

test.each(VECTORS)(
  "$source: the client's proof is right, and the server computes the signature of the vector",
  async (vector) => {
    const { hash, clientFirst, serverFirst, withoutProof, proof, signature } = vector;
    const keys = await keysOf(vector);
    const [, nonce = '', salt = ''] = /^r=([^,]+),s=([^,]+),/.exec(serverFirst) ?? [];
    expect(parseClientFirst(clientFirst)?.user.account).toBe('user');
    expect(formatServerFirst(nonce, Buffer.from(salt, 'base64'), 4096)).toBe(serverFirst);
    const final = parseClientFinal(`${withoutProof},p=${proof}`);
    expect(final).toMatchObject({ nonce, withoutProof });
    const given = final?.proof ?? Buffer.alloc(0);
    expect(verifyProof(hash, keys, authMessage(vector), given)?.toString('base64')).toBe(signature);
  },
);

test('RFC 7804 section 5: the messages as printed end in a line feed (erratum 6633) and are refused', () => {
  for (const printed of [PRINTED_IN_RFC_7804.clientFirst, PRINTED_IN_RFC_7804.clientFinal]) {
    const message = decodeMessage(printed) ?? '';
    expect(message).toMatch(/\n$/);
    expect(parseClientFirst(message)).toBeUndefined();
    expect(parseClientFinal(message)).toBeUndefined();
  }
});

test('RFC 7804 section 5: the proof as printed is wrong, since it belongs to another nonce', async () => {
  const [, , vector] = VECTORS;
  if (vector === undefined) throw new Error('no vector');
  const proof = Buffer.from(PRINTED_IN_RFC_7804.proof, 'base64');
  const keys = await keysOf(vector);
  expect(verifyProof('SHA-256', keys, authMessage(vector), proof)).toBeUndefined();
});

test('RFC 5802 section 3: a proof with a wrong bit, a wrong length or another hash is refused', async () => {
  const [, vector] = VECTORS;
  if (vector === undefined) throw new Error('no vector');
  const keys = await keysOf(vector);
  const proof = Buffer.from(vector.proof, 'base64');
  fc.assert(
    fc.property(fc.nat(proof.length * 8 - 1), fc.nat(64), (bit, length) => {
      const flipped = Buffer.from(proof);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verifyProof('SHA-256', keys, authMessage(vector), flipped)).toBeUndefined();
      const other = Buffer.concat([proof, Buffer.alloc(64)]).subarray(0, length);
      if (length !== proof.length) {
        expect(verifyProof('SHA-256', keys, authMessage(vector), other)).toBeUndefined();
      }
    }),
  );
});
