import { expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { mutualClient } from './client.ts';
import { curve, P_256 } from './curve.ts';

const TERMS = {
  version: '1',
  algorithm: 'iso-kam3-ec-p256-sha256',
  validation: 'host',
  'auth-scope': 'rs.example',
  realm: 'documents',
};
const ALICE = { name: 'alice', password: 'correct horse' };
const SID = '0'.repeat(32);
const group = curve(P_256);
const pointOf = (scalar: bigint) => {
  const point = group.multiple(scalar);
  return point ? group.encode(point).toString('hex') : '';
};

test.each(['iso-kam3-dl-2048-sha256', 'toString', ''])(
  'a client that supports only curves does not answer the algorithm %j',
  async (algorithm) => {
    expect(await mutualClient({ ...TERMS, algorithm }, ALICE, systemRandom)).toBeUndefined();
  },
);

test.each([
  ['missing', undefined],
  ['cut off', pointOf(5n).slice(0, -2)],
  ['longer', `${pointOf(5n)}00`],
  ['on no curve', 'ff'.repeat(33)],
  ['no number', 'x'.repeat(66)],
])('RFC 8120 section 4.3: the client rejects a ks1 that is %s', async (_, ks1) => {
  const client = await mutualClient(TERMS, ALICE, systemRandom);
  expect(client?.session({ sid: SID, ...(ks1 !== undefined && { ks1 }) })).toBeUndefined();
  expect(client?.session({ sid: SID, ks1: pointOf(5n) })).toBeDefined();
});

test('RFC 8120 section 4.5: the client refuses a server without the verifier, and a proof for another nc or certificate', async () => {
  const client = await mutualClient(TERMS, ALICE, systemRandom);
  const session = client?.session({ sid: SID, ks1: pointOf(5n) });
  const bound = { nc: 0n, vh: Buffer.from('here') };
  const { vkc = '' } = session?.verify(bound) ?? {};
  expect(vkc).toMatch(/^[0-9a-f]{64}$/);
  expect(session?.isFromServer(vkc, bound)).toBe(false);
  expect(session?.verify({ ...bound, nc: 1n })['vkc']).not.toBe(vkc);
  expect(session?.verify({ ...bound, vh: Buffer.from('there') })['vkc']).not.toBe(vkc);
});
