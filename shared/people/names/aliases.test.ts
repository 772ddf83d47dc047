import { expect, test } from '@jest/globals';
import { aliasesOf } from './aliases.ts';

test('each principal has one alias', () => {
  expect(aliasesOf({ kerberos: ['alice@A', 'alice@B'] })).toEqual([
    'kerberos:alice@A',
    'kerberos:alice@B',
  ]);
  expect(aliasesOf({})).toEqual([]);
});

test('RFC 5891 section 5.5: one mailbox has one alias, in any spelling of its domain', () => {
  const domains = ['bücher.example', 'Bu\u0308CHER.example', 'xn--bcher-kva.example'];
  const emails = domains.map((domain) => ({ address: `a@${domain}`, verified: true }));
  expect(aliasesOf({ profile: { emails } })).toEqual(['address:a@xn--bcher-kva.example']);
});

test('each verified address has one alias, in any case', () => {
  const emails = [
    { address: 'Alice@Example.com', verified: true },
    { address: 'alice@example.COM', verified: true },
    { address: 'other@example.com', verified: false },
  ];
  expect(aliasesOf({ kerberos: ['alice@A'], profile: { emails } })).toEqual([
    'kerberos:alice@A',
    'address:alice@example.com',
  ]);
});
