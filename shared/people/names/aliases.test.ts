import { expect, test } from '@jest/globals';
import { aliasesOf } from './aliases.ts';

test('one for each principal', () => {
  expect(aliasesOf({ kerberos: ['alice@A', 'alice@B'] })).toEqual([
    'kerberos:alice@A',
    'kerberos:alice@B',
  ]);
  expect(aliasesOf({})).toEqual([]);
});
