import { describe, expect, test } from '@jest/globals';
import { HASH_METHODS, interactionHash } from './interaction-hash.ts';

/** The values of RFC 9635 section 4.2.3. */
const EXAMPLE = {
  clientNonce: 'VJLO6A4CATR0KRO',
  serverNonce: 'MBDOFXG4Y5CVJCX821LH',
  interactRef: '4IFWWIKYB2PQ6U56NL1',
  grantEndpoint: 'https://server.example.com/tx',
};

describe('RFC 9635 section 4.2.3: the interaction hash', () => {
  test('the example has the right hash by sha-256, which is the default, and by sha3-512', () => {
    const expected = 'x-gguKWTj8rQf7d7i3w3UhzvuJ5bpOlKyAlVpLxBffY';
    expect(interactionHash(EXAMPLE)).toBe(expected);
    expect(interactionHash(EXAMPLE, 'sha-256')).toBe(expected);
    expect(interactionHash(EXAMPLE, 'sha3-512')).toBe(
      'pyUkVJSmpqSJMaDYsk5G8WCvgY91l-agUPe1wgn-cc5rUtN69gPI2-S_s-Eswed8iB4PJ_a5Hg6DNi7qGgKwSQ',
    );
  });

  test('each value and each method changes the hash', () => {
    const changed = Object.keys(EXAMPLE).map((name) =>
      interactionHash({ ...EXAMPLE, [name]: 'other' }),
    );
    const methods = HASH_METHODS.map((method) => interactionHash(EXAMPLE, method));
    expect(new Set([...changed, ...methods]).size).toBe(changed.length + methods.length);
  });
});
