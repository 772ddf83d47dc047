import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { identityFields, type Passed } from './identity-fields.ts';

/** A person about whom everything is known. */
const passed = (name: string, groups: readonly string[] = []): Passed => ({
  scheme: 'Basic',
  principal: {
    kind: 'person',
    realm: 'people',
    name: 'unused',
    scopes: new Set(['read', 'write']),
    claims: { sub: 'id-1', client_id: 'app' },
    about: { name, email: 'a@b.example', groups },
  },
});

test('every identity field is present, even if its value is unknown', () => {
  expect(identityFields(passed('alice', ['staff', 'a,b']))).toEqual({
    'X-Auth-Subject': 'id-1',
    'X-Auth-Name': 'alice',
    'X-Auth-Email': 'a@b.example',
    'X-Auth-Groups': 'staff,a%2Cb',
    'X-Auth-Client': 'app',
    'X-Auth-Scope': 'read write',
    'X-Auth-Scheme': 'Basic',
  });
  const nobody: Passed = { scheme: 'PrivateToken', principal: { kind: 'anonymous' } };
  expect(identityFields(nobody)).toEqual({
    'X-Auth-Subject': '',
    'X-Auth-Name': '',
    'X-Auth-Email': '',
    'X-Auth-Groups': '',
    'X-Auth-Client': '',
    'X-Auth-Scope': '',
    'X-Auth-Scheme': 'PrivateToken',
  });
});

test('a space may configure the names of identity fields', () => {
  expect(identityFields(passed('alice'), { 'Remote-User': 'name', Also: 'name' })).toEqual({
    'Remote-User': 'alice',
    Also: 'alice',
  });
});

test.each([
  ['Ä b', '%C3%84%20b'],
  ['100%', '100%25'],
  ['a\r\nX-Auth-Scope: all', 'a%0D%0AX-Auth-Scope:%20all'],
  ['\x7f', '%7F'],
  ['\u{1f600}', '%F0%9F%98%80'],
  ['\ud83d', '%EF%BF%BD'],
  ['!$&~', '!$&~'],
])('the name %j is encoded as %s', (name, told) => {
  expect(identityFields(passed(name))['X-Auth-Name']).toBe(told);
});

test('each name is encoded in visible ASCII, and can be decoded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      const told = identityFields(passed(name))['X-Auth-Name'] ?? '';
      expect(told).toMatch(/^[\x21-\x7e]*$/);
      expect(decodeURIComponent(told)).toBe(name === 'id-1' ? '' : name);
    }),
  );
});
