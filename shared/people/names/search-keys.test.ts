import { expect, test } from '@jest/globals';
import { emailSearchKey, looksSearchKey, searchKeysOf } from './search-keys.ts';

test('search keys are each address once, in any case, and the look of the name', () => {
  const emails = ['Alice@Example.com', 'alice@example.COM', 'ÄB@x'].map((address) => ({
    address,
    verified: false,
  }));
  expect(searchKeysOf({ name: 'alice', profile: { emails } })).toEqual([
    'email:alice@example.com',
    'email:Äb@x',
    'looks:allce',
  ]);
});

test('RFC 5891 section 5.5: one mailbox has one search key, in any spelling of its domain', () => {
  const keys = ['a@bücher.example', 'A@xn--bcher-kva.EXAMPLE'].map(emailSearchKey);
  expect(new Set(keys)).toEqual(new Set(['email:a@xn--bcher-kva.example']));
});

test.each([
  ['bob', 'b0b'],
  ['paul', 'pau1'],
  ['ilona', '1lona'],
  ['liam', 'iiam'],
  ['marvin', 'rnarvin'],
  ['william', 'vvilliam'],
  ['alice', 'a.l-i_c.e'],
])('%s and %s look alike', (one, other) => {
  expect(looksSearchKey(one)).toBe(looksSearchKey(other));
});

test('names that people can distinguish do not look alike', () => {
  const keys = [
    'alice',
    'alicia',
    'bob',
    'rob',
    'dora',
    'dara',
    'clara',
    'user5',
    'users',
    'jan3',
    'jane',
  ].map(looksSearchKey);
  expect(new Set(keys).size).toBe(keys.length);
});
