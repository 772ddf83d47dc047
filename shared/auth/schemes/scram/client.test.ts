import { expect, test } from '@jest/globals';
import { scramClient } from './client.ts';
import { VECTORS } from './vectors.fixture.ts';

test.each(VECTORS)(
  "$source: the client makes both messages, and accepts the server's proof",
  async (vector) => {
    const { hash, password, clientFirst, serverFirst, withoutProof, proof, signature } = vector;
    const [, name = '', nonce = ''] = /^n,,n=(.*),r=(.*)$/.exec(clientFirst) ?? [];
    const client = scramClient(hash, { name, password, nonce });
    expect(client.first).toBe(clientFirst);
    const final = await client.final(serverFirst);
    expect(final?.message).toBe(`${withoutProof},p=${proof}`);
    expect(final?.isFromServer(`v=${signature}`)).toBe(true);
    for (const lie of ['', 'v=', `v=${proof}`, `v=${signature}=`, 'e=other-error']) {
      expect(final?.isFromServer(lie)).toBe(false);
    }
  },
);

test('RFC 5802 section 5.1: commas and equal signs of a name are escaped', () => {
  const client = scramClient('SHA-256', { name: 'a,b=c', password: 'x', nonce: 'n' });
  expect(client.first).toBe('n,,n=a=2Cb=3Dc,r=n');
});

test.each([
  'r=other,s=QSXCR+Q6sek8bf92,i=4096',
  'r=mine,s=QSXCR+Q6sek8bf92,i=4096',
  'r=mine-and-more,s=QSXCR+Q6sek8bf92,i=1',
  'r=mine-and-more,s=,i=4096',
  'm=x,r=mine-and-more,s=QSXCR+Q6sek8bf92,i=4096',
  '',
])('RFC 5802 section 5.1: the client stops after %j', async (serverFirst) => {
  const client = scramClient('SHA-256', { name: 'user', password: 'pencil', nonce: 'mine' });
  expect(await client.final(serverFirst)).toBeUndefined();
});
