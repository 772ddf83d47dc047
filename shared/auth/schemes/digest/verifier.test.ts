import { expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { USERHASHES, WRONG_IN_RFC_7616 } from './vectors.fixture.ts';
import { DIGEST_KINDS, digestVerifier } from './verifier.ts';

test.each(USERHASHES)(
  'RFC 7616 section 3.4.4, userhash: $source',
  ({ hash, name, realm, userhash }) => {
    expect(DIGEST_KINDS[hash].handle?.(name, realm)).toBe(userhash);
    expect(DIGEST_KINDS[hash].handle?.(name, realm)).not.toBe(WRONG_IN_RFC_7616.userhash);
  },
);

test.each(digestVerifier.kinds)(
  'RFC 7616 section 3.4.3: an HA1 of $title is in lower-case hexadecimal, of its length',
  async ({ derive, isValue }) => {
    const secret = { name: 'alice', realm: 'one', password: 'swordfish' };
    const value = (await derive(secret, systemRandom)) ?? '';
    expect(isValue(value)).toBe(true);
    for (const wrong of [
      '',
      value.slice(1),
      `${value}00`,
      value.replace(/^./, 'x'),
      value.toUpperCase(),
      `${value}\n`,
    ]) {
      expect(isValue(wrong)).toBe(false);
    }
  },
);

test('RFC 7616 section 3.4.2: the stored verifier is the same with and without -sess', () => {
  const kinds = digestVerifier.neededBy({ digest: { algorithms: ['MD5-sess', 'SHA-256', 'MD5'] } });
  const { MD5, 'SHA-256': SHA_256 } = DIGEST_KINDS;
  expect(kinds).toEqual([MD5, SHA_256, MD5]);
});
