import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { audienceOf, loginTokens } from './login.ts';

const jwt = (claims: unknown) =>
  ['{"alg":"none"}', JSON.stringify(claims), '']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

test.each([
  ['https://api.example/documents/', 'https://api.example/documents/'],
  [['https://api.example/'], 'https://api.example/'],
  [['https://api.example/', 'https://other.example/'], undefined],
  [[], undefined],
  [undefined, undefined],
  ['documents', undefined],
  ['http://api.example/', undefined],
  [7, undefined],
  [[['https://api.example/']], undefined],
])('RFC 9068 section 2.2: a token with aud %j is for %s', (aud, audience) => {
  expect(audienceOf(jwt({ aud }))).toBe(audience);
});

test('the resource of a token that is no JWT is unknown', () => {
  fc.assert(
    fc.property(fc.string(), (token) => {
      expect(audienceOf(token)).toBeUndefined();
    }),
  );
  expect(audienceOf(jwt(null))).toBeUndefined();
  expect(audienceOf(jwt('https://api.example/'))).toBeUndefined();
});

const clock = new ManualClock(1000);

test("RFC 6749 section 5.1: the login's expiry is by the local clock, and the scope may be narrower than requested", () => {
  const answer = { access_token: 'a', expires_in: 60, scope: 'x' };
  expect(loginTokens({ ...answer, refresh_token: 'r' }, { scope: 'x y' }, clock)).toEqual({
    access_token: 'a',
    expires_at: 61_000,
    refresh_token: 'r',
    scope: 'x',
  });
});

test('RFC 6749 section 6: members that a refresh answer omits stay', () => {
  const answer = { access_token: 'b', expires_in: 60 };
  expect(loginTokens(answer, { scope: 'x', refresh_token: 'r' }, clock)).toMatchObject({
    refresh_token: 'r',
    scope: 'x',
  });
});
