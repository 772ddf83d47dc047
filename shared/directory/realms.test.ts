import { expect, test } from '@jest/globals';
import { proxySchema, spaceSchema } from '#shared/config/space-schema.ts';
import { realmNeeds } from './realms.ts';

const space = (realm: string, schemes: readonly string[], members: object = {}) =>
  spaceSchema.parse({ url: `https://api.example/${realm}/`, realm, schemes, ...members });

const algorithms = (...names: readonly string[]) => ({ digest: { algorithms: names } });

test('RFC 7616 section 3.4.2: with -sess or without, one hash is kept', () => {
  const digest = algorithms('SHA-256-sess', 'SHA-256', 'MD5-sess', 'SHA-512-256');
  expect(realmNeeds({ spaces: [space('a', ['Digest'], digest)] })).toEqual([
    { realm: 'a', digest: ['SHA-256', 'MD5', 'SHA-512-256'], scram: [] },
  ]);
});

test('algorithms without Digest, and schemes that ask for no verifier, need nothing', () => {
  const spaces = [
    space('a', ['Basic', 'Negotiate', 'Bearer', 'DPoP', 'API-Key'], algorithms('MD5')),
  ];
  expect(realmNeeds({ spaces })).toEqual([]);
  expect(realmNeeds({ spaces: [] })).toEqual([]);
});

test('one realm of several spaces and the proxy needs what they offer together, once', () => {
  const spaces = [
    space('a', ['SCRAM-SHA-256', 'Digest']),
    space('b', ['Digest'], algorithms('MD5')),
    { ...space('a', ['SCRAM-SHA-1', 'SCRAM-SHA-256']), url: 'https://other.example/' },
  ];
  const proxy = proxySchema.parse({ realm: 'b', schemes: ['Digest', 'SCRAM-SHA-1'] });
  expect(realmNeeds({ spaces, proxy })).toEqual([
    { realm: 'a', digest: ['SHA-256'], scram: ['SHA-256', 'SHA-1'] },
    { realm: 'b', digest: ['MD5', 'SHA-256'], scram: ['SHA-1'] },
  ]);
});
