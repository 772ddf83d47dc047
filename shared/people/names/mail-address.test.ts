import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { mailAddress } from './mail-address.ts';

test.each([
  'alice@example.com',
  'Alice.Liddell+news@mail.example.com',
  "o'neil@example.com",
  '_@localhost',
  `${'a'.repeat(64)}@x`,
  'a@xn--bcher-kva.example',
])('RFC 5321 section 4.1.2: %s', (address) => {
  expect(mailAddress(address)).toBe(address);
  expect(mailAddress(` ${address}\t`)).toBe(address);
});

test.each([
  ['nothing', ''],
  ['no domain', 'alice@'],
  ['no name', '@example.com'],
  ['none at all', 'alice'],
  ['two', 'alice@example.com@attacker.example'],
  ['a list', 'alice@example.com,mallory@attacker.example'],
  ['a list with another sign', 'alice@example.com;mallory@attacker.example'],
  ['a display name', 'Alice <alice@example.com>'],
  ['quotes', '"alice"@example.com'],
  ['a comment', 'alice(x)@example.com'],
  ['a group', 'x:alice@example.com;'],
  [
    'a line end and a field (header injection)',
    'alice@example.com\r\nBcc: mallory@attacker.example',
  ],
  ['a line end alone', 'alice\n@example.com'],
  ['NUL', 'alice@example.com\0'],
  ['a command of SMTP', 'alice@example.com>\r\nRCPT TO:<mallory@attacker.example'],
  ['a source route', '@relay.example:alice@example.com'],
  ['a percent route in brackets', 'alice@[127.0.0.1]'],
  ['a domain that begins with a dash', 'alice@-example.com'],
  ['a domain with an empty label', 'alice@example..com'],
  ['a domain that ends with a dot', 'alice@example.com.'],
  ['a name that begins with a dot', '.alice@example.com'],
  ['letters that are not ASCII', 'mıke@example.com'],
  ['65 characters before the sign', `${'a'.repeat(65)}@x`],
  [
    '255 characters',
    `a@${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(9)}`,
  ],
  ['a flood', `${'a.'.repeat(500_000)}@${'a-'.repeat(500_000)}`],
])('%s is none', (_, typed) => expect(mailAddress(typed)).toBeUndefined());

test('any text gives an address that needs no quoting, or nothing', () => {
  fc.assert(
    fc.property(fc.oneof(anyText(), fc.emailAddress()), (typed) => {
      const address = mailAddress(typed);
      if (address === undefined) return;
      expect(address).toMatch(/^[!-~]+$/);
      expect(address).not.toMatch(/[<>()[\]:;,"\\\s]/);
    }),
    { numRuns: 2000 },
  );
});
