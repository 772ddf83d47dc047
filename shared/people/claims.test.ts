import { describe, expect, test } from '@jest/globals';
import { CLAIMS_OF_SCOPES, claimsOf } from './claims.ts';

const ALICE = {
  id: 'alice-id',
  name: 'alice',
  profile: {
    display_name: 'Alice Liddell',
    emails: [
      { address: 'alice@example.com', verified: false },
      { address: 'second@example.com', verified: true },
    ],
    groups: ['Staff', 'Chess club'],
    locale: 'en-GB',
    picture: 'https://pictures.example/alice.png',
  },
};
const told = (...scopes: string[]) => claimsOf(ALICE, new Set(scopes));

describe('OpenID Connect Core 1.0 section 5.4: the claims of each scope', () => {
  test('profile: name, preferred_username, picture, locale', () => {
    expect(told('profile')).toEqual({
      name: 'Alice Liddell',
      preferred_username: 'alice',
      picture: 'https://pictures.example/alice.png',
      locale: 'en-GB',
    });
  });

  test('email: the first address and whether that one is verified, no other', () => {
    expect(told('email')).toEqual({ email: 'alice@example.com', email_verified: false });
  });

  test('groups: all of them', () => {
    expect(told('groups')).toEqual({ groups: ['Staff', 'Chess club'] });
  });

  test('several: all of them', () => {
    expect(Object.keys(told('groups', 'openid', 'email'))).toEqual([
      'email',
      'email_verified',
      'groups',
    ]);
  });

  test.each([
    '',
    'openid',
    'offline_access',
    'Email',
    'email ',
    'address',
    '__proto__',
    'toString',
  ])('%j: nothing', (scope) => {
    expect(told(scope)).toEqual({});
  });
});

describe('section 5.3.2: unknown claims are left out, not null', () => {
  test.each([undefined, {}, { emails: [] }])('%j', (profile) => {
    const person = { id: 'b', name: 'bob', ...(profile && { profile }) };
    const claims = claimsOf(person, new Set(['profile', 'email', 'groups']));
    expect(claims).toStrictEqual({ preferred_username: 'bob', groups: [] });
  });
});

test('the claims in the metadata are those that are told', () => {
  for (const [scope, claims] of Object.entries(CLAIMS_OF_SCOPES)) {
    expect(Object.keys(told(scope)).toSorted()).toEqual(claims.toSorted());
  }
});
