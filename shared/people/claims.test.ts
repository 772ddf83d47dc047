import { describe, expect, test } from '@jest/globals';
import { CLAIMS_OF_SCOPES, claimsOf } from './claims.ts';

const ALICE = {
  id: 'alice-id',
  name: 'alice',
  changedAt: 1_700_000_000_999,
  profile: {
    display_name: 'Alice Liddell',
    emails: [
      { address: 'alice@example.com', verified: false },
      { address: 'second@example.com', verified: true },
    ],
    groups: ['Staff', 'Chess club'],
    locale: 'en-GB',
    picture: 'https://pictures.example/alice.png',
    attributes: Object.entries({
      given_name: 'Alice',
      family_name: 'Liddell',
      middle_name: 'Pleasance',
      nickname: 'Al',
      profile: 'https://people.example/alice',
      website: 'https://alice.example/',
      gender: 'female',
      birthdate: '1852-05-04',
      zoneinfo: 'Europe/London',
      phone_number: '+44 20 7946 0000',
      'address.locality': 'Oxford',
      'address.country': 'GB',
      department: 'Wonderland',
      sub: 'someone else',
    }).map(([name, value]) => ({ name, value })),
  },
};
const told = (...scopes: string[]) => claimsOf(ALICE, new Set(scopes));

describe('OpenID Connect Core 1.0 section 5.4: the claims of each scope', () => {
  test('the scope profile gives the members of the record, and attributes with the name of its claims', () => {
    expect(told('profile')).toEqual({
      name: 'Alice Liddell',
      preferred_username: 'alice',
      picture: 'https://pictures.example/alice.png',
      locale: 'en-GB',
      given_name: 'Alice',
      family_name: 'Liddell',
      middle_name: 'Pleasance',
      nickname: 'Al',
      profile: 'https://people.example/alice',
      website: 'https://alice.example/',
      gender: 'female',
      birthdate: '1852-05-04',
      zoneinfo: 'Europe/London',
      updated_at: 1_700_000_000,
    });
  });

  test('the scope phone gives the number, which this server has not verified', () => {
    expect(told('phone')).toEqual({
      phone_number: '+44 20 7946 0000',
      phone_number_verified: false,
    });
  });

  test('section 5.1.1: the scope address gives an object with the parts that are known', () => {
    expect(told('address')).toEqual({ address: { locality: 'Oxford', country: 'GB' } });
  });

  test('the scope email gives the first address and whether it is verified, and no other address', () => {
    expect(told('email')).toEqual({ email: 'alice@example.com', email_verified: false });
  });

  test('the scope groups gives all groups', () => {
    expect(told('groups')).toEqual({ groups: ['Staff', 'Chess club'] });
  });

  test('several scopes give the claims of all of them', () => {
    expect(Object.keys(told('groups', 'openid', 'email'))).toEqual([
      'email',
      'email_verified',
      'groups',
    ]);
  });

  test.each(['', 'openid', 'offline_access', 'Email', 'email ', '__proto__', 'toString'])(
    'the scopes %j give no claims',
    (scope) => {
      expect(told(scope)).toEqual({});
    },
  );
});

describe('section 5.3.2: unknown claims are left out, not null', () => {
  test.each([undefined, {}, { emails: [] }])(
    'unknown claims are left out for the profile %j',
    (profile) => {
      const person = { id: 'b', name: 'bob', ...(profile && { profile }) };
      const claims = claimsOf(person, new Set(['profile', 'email', 'phone', 'address', 'groups']));
      expect(claims).toStrictEqual({ preferred_username: 'bob', groups: [] });
    },
  );
});

test('the metadata lists exactly the claims that are sent', () => {
  for (const [scope, claims] of Object.entries(CLAIMS_OF_SCOPES)) {
    expect(Object.keys(told(scope)).toSorted()).toEqual(claims.toSorted());
  }
});
