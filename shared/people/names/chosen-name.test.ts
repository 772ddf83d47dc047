import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { chosenName, isReservedName } from './chosen-name.ts';

const MORE = ['Acme', 'Bob.Builder', 'kit-1'];

describe('reserved names', () => {
  test.each([
    ['one of a service (RFC 2142)', 'postmaster'],
    ['one of an operator', 'root'],
    ['one with signs in it', 'ad.min'],
    ['one with a digit that looks the same', 'adm1n'],
    ['one with another letter that looks the same', 'supp0rt'],
    ['letters that look like one together', 'adrnin'],
    ['the brand', 'acme'],
    ['what looks like the brand', 'a-c.m_e'],
    ['letters that look like the brand', 'acrne'],
    ['one that rights wait for', 'bobbuilder'],
    ['what looks like one that rights wait for', 'b0b-bullder'],
    ['the brand and a service', 'acme-support'],
    ['a service and the brand', 'support.acme'],
    ['both without a sign', 'acmesecurity'],
    ['both, by digits', 'acme-adm1n'],
    ['both the other way round, without a sign', 'helpdeskacme'],
    ['both, with a sign elsewhere', 'ac-mesup.port'],
    ['the brand twice', 'acme-acme'],
    ['the brand and two words', 'acme-support-team'],
    ['two services', 'security-team'],
    ['three', 'official.admin_team'],
    ['one that rights wait for, and a service', 'kit-l-admin'],
  ])('%s: the name %s is reserved', (_, name) => expect(isReservedName(name, MORE)).toBe(true));

  test.each([
    'alice',
    'bob',
    'builder',
    'ac',
    'acmeist',
    'acme-fan',
    'alice.support',
    'rooter',
    'adminton',
    'supporter',
    'kit-2',
    'steam',
  ])('the name %s may be chosen', (name) => expect(isReservedName(name, MORE)).toBe(false));

  test('the name of another brand may be chosen', () => {
    expect(isReservedName('acme', [])).toBe(false);
    expect(isReservedName('acme-support', [])).toBe(false);
  });

  test('a brand of signs alone reserves no name', () => {
    expect(isReservedName('alice', [''])).toBe(false);
    expect(isReservedName('admin', [''])).toBe(true);
  });

  test('signs between the letters of a reserved name leave it reserved', () => {
    const signs = fc.array(fc.constantFrom('', '.', '_', '-'), { minLength: 11, maxLength: 11 });
    fc.assert(
      fc.property(signs, fc.constantFrom('acmesupport', 'supportacme'), (between, name) => {
        const typed = Array.from(name, (letter, n) => `${n ? between[n] : ''}${letter}`).join('');
        expect(isReservedName(typed, MORE)).toBe(true);
      }),
    );
  });
});

test.each([
  ['capitals are small letters', ' Alice ', 'alice'],
  ['single signs', 'alice.l-b_c', 'alice.l-b_c'],
  ['a sign at the end', 'alice.', undefined],
  ['two signs', 'alice..b', undefined],
  ['one letter', 'a', undefined],
  ['65 letters', 'a'.repeat(65), undefined],
  ['letters that look like others', '\u0430lice', undefined],
  ['a line end', 'alice\nb', undefined],
])('a typed name is read: %s', (_, typed, name) => expect(chosenName(typed)).toBe(name));
