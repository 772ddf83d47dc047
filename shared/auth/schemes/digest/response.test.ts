import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import { digestResponse, digestRspauth, type Signed } from './response.ts';
import { VECTORS, WRONG_IN_RFC_7616 } from './vectors.fixture.ts';
import { DIGEST_KINDS } from './verifier.ts';
import { systemRandom } from '#shared/base/random.ts';

describe('RFC 7616 section 3.4.1: vectors', () => {
  test.each(VECTORS)(
    '$source, $algorithm',
    async ({ algorithm, name, realm, password, ...vector }) => {
      const kind = DIGEST_KINDS[DIGEST_ALGORITHMS[algorithm].hash];
      const ha1 = (await kind.derive({ name, realm, password }, systemRandom)) ?? '';
      const response = digestResponse(algorithm, ha1, vector.signed);
      expect(response).toBe(vector.response);
      expect(response).not.toBe(WRONG_IN_RFC_7616.response);
    },
  );
});

describe('RFC 7616 sections 3.4.2, 3.4.3 and 3.5: the hashed parts, written out', () => {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const content = createHash('md5').update('content').digest();
  const signed: Signed = {
    method: 'PUT',
    uri: '/a?b',
    nonce: 'n',
    nc: '0000000a',
    cnonce: 'c',
    qop: 'auth-int',
  };

  test('with auth-int the response hashes the digest of the content', () => {
    const a2 = md5(`PUT:/a?b:${md5('content')}`);
    expect(digestResponse('MD5', 'ha1', signed, content)).toBe(
      md5(`ha1:n:0000000a:c:auth-int:${a2}`),
    );
  });

  test('with auth the response does not depend on the content', () => {
    const auth: Signed = { ...signed, qop: 'auth' };
    const expected = md5(`ha1:n:0000000a:c:auth:${md5('PUT:/a?b')}`);
    expect(digestResponse('MD5', 'ha1', auth)).toBe(expected);
    expect(digestResponse('MD5', 'ha1', auth, content)).toBe(expected);
  });

  test('with -sess the response hashes nonce and cnonce into the secret', () => {
    const a1 = md5('ha1:n:c');
    const a2 = md5(`PUT:/a?b:${md5('content')}`);
    expect(digestResponse('MD5-sess', 'ha1', signed, content)).toBe(
      md5(`${a1}:n:0000000a:c:auth-int:${a2}`),
    );
  });

  test('rspauth is hashed without a method', () => {
    const a2 = md5(`:/a?b:${md5('content')}`);
    expect(digestRspauth('MD5', 'ha1', signed, content)).toBe(
      md5(`ha1:n:0000000a:c:auth-int:${a2}`),
    );
    expect(digestRspauth('MD5', 'ha1', { ...signed, qop: 'auth' })).toBe(
      md5(`ha1:n:0000000a:c:auth:${md5(':/a?b')}`),
    );
  });

  test.each(Object.keys(DIGEST_ALGORITHMS) as DigestAlgorithmName[])(
    '%s: every part changes the response, whose length is that of the hash',
    (algorithm) => {
      const right = digestResponse(algorithm, 'ha1', signed, content);
      expect(right).toMatch(/^[0-9a-f]+$/);
      expect(right).toHaveLength(DIGEST_ALGORITHMS[algorithm].hexLength);
      const changed = [
        digestResponse(algorithm, 'ha2', signed, content),
        digestResponse(algorithm, 'ha1', signed, Buffer.from('other')),
        ...(['method', 'uri', 'nonce', 'nc', 'cnonce'] as const).map((part) =>
          digestResponse(algorithm, 'ha1', { ...signed, [part]: 'other' }, content),
        ),
        digestResponse(algorithm, 'ha1', { ...signed, qop: 'auth' }, content),
      ];
      expect(new Set([right, ...changed]).size).toBe(changed.length + 1);
    },
  );
});
