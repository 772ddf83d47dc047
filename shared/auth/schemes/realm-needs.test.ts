import { expect, test } from '@jest/globals';
import type { DigestAlgorithmName } from '#shared/http/auth/digest-algorithms.ts';
import { realmNeeds } from './realm-needs.ts';

const offer = (
  realm: string,
  schemes: readonly string[],
  algorithms: readonly DigestAlgorithmName[] = ['SHA-256'],
) => ({
  url: 'https://rs.example/a/',
  realm,
  schemes,
  digest: { algorithms: [...algorithms] },
  mutual: { algorithm: 'iso-kam3-ec-p256-sha256' as const },
});

const needsOf = (...config: Parameters<typeof realmNeeds>) =>
  realmNeeds(...config).map(({ realm, kinds }) => [realm, kinds.map(({ kind }) => kind)]);

test('RFC 7616 section 3.4.2: algorithms with -sess and without need one hash', () => {
  const spaces = [offer('a', ['Digest'], ['SHA-256-sess', 'SHA-256', 'MD5-sess', 'SHA-512-256'])];
  expect(needsOf({ spaces })).toEqual([
    ['a', ['digest SHA-256', 'digest MD5', 'digest SHA-512-256']],
  ]);
});

test('algorithms without Digest, and schemes that ask for no verifier, need nothing', () => {
  const spaces = [offer('a', ['Basic', 'Negotiate', 'Bearer', 'DPoP', 'API-Key'], ['MD5'])];
  expect(needsOf({ spaces })).toEqual([]);
  expect(needsOf({ spaces: [] })).toEqual([]);
});

test('one realm of several spaces and the proxy needs the verifiers of all their schemes, each once', () => {
  const spaces = [
    offer('a', ['SCRAM-SHA-256', 'Digest']),
    offer('b', ['Digest'], ['MD5']),
    offer('a', ['SCRAM-SHA-1', 'SCRAM-SHA-256']),
  ];
  const proxy = offer('b', ['Digest', 'SCRAM-SHA-1']);
  expect(needsOf({ spaces, proxy })).toEqual([
    ['a', ['scram SHA-256', 'digest SHA-256', 'scram SHA-1']],
    ['b', ['digest MD5', 'digest SHA-256', 'scram SHA-1']],
  ]);
});

test('RFC 8120 section 5: Mutual keeps one verifier for all origins of a host', () => {
  const at = (url: string) => ({ ...offer('a', ['Mutual']), url });
  const spaces = [
    'http://rs.example:3001/a/',
    'https://rs.example/a/',
    'https://other.example/',
  ].map(at);
  expect(realmNeeds({ spaces })).toEqual([
    {
      realm: 'a',
      kinds: ['rs.example', 'other.example'].map((scope) =>
        expect.objectContaining({ kind: 'mutual iso-kam3-ec-p256-sha256', scope }),
      ),
    },
  ]);
});
