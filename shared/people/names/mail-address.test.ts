import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { mailAddress } from './mail-address.ts';

test.each([
  'alice@example.com',
  'Alice.Liddell+news@mail.example.com',
  "o'neil@example.com",
  '_@mail.localhost',
  `${'a'.repeat(64)}@x.example`,
  'a@xn--bcher-kva.example',
  'a@1.example',
  `a@${'x'.repeat(63)}.example`,
  `a@${'x.'.repeat(123)}example`.slice(0, 254).replace(/\.$/, 'x'),
])('RFC 5321 section 4.1.2: %s is an address', (address) => {
  expect(mailAddress(address)).toBe(address);
  expect(mailAddress(` ${address}\t`)).toBe(address);
});

test.each([
  ['alice@Bücher.example', 'alice@xn--bcher-kva.example'],
  ['alice@bu\u0308cher.example', 'alice@xn--bcher-kva.example'],
  ['alice@例え.テスト', 'alice@xn--r8jz45g.xn--zckzah'],
  ['alice@faß.example', 'alice@xn--fa-hia.example'],
  // Fullwidth letters equal ordinary letters.
  ['alice@ｅxample.com', 'alice@example.com'],
])('RFC 5891 section 5.5: %s becomes %s', (typed, address) => {
  expect(mailAddress(typed)).toBe(address);
  expect(mailAddress(address)).toBe(address);
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
  ['an address of a host (RFC 5321 section 4.1.3)', 'alice@[127.0.0.1]'],
  ['one of IPv6', 'alice@[IPv6:::1]'],
  ['one without brackets', 'alice@127.0.0.1'],
  ['a short one', 'alice@127.1'],
  ['one in base 16', 'alice@0x7f.0x1'],
  ['one of wide digits', 'alice@１２７.０.０.１'],
  ['a single label', 'a@b'],
  ['this machine', 'root@localhost'],
  ['a single label that is not ASCII', 'alice@bücher'],
  ['a domain with a path', 'alice@bücher.example/x'],
  ['a domain with a port', 'alice@bücher.example:25'],
  ['a domain with an encoded sign', 'alice@bücher%40x.example'],
  ['another dot', 'alice@bücher。example'],
  ['an invisible letter', 'alice@bü\u200Bcher.example'],
  ['letters that turn around', 'alice@\u202Ebücher.example'],
  ['half a surrogate', 'alice@b\uD800.example'],
  ['a label of 64 octets', `alice@${'x'.repeat(64)}.example`],
  ['a label of 64 octets in ASCII', `alice@${'ü'.repeat(63)}.example`],
  ['a name that ends with a dot', 'alice.@example.com'],
  ['a name with two dots', 'al..ice@example.com'],
  ['a quoted name', '"al ice"@example.com'],
  ['a quoted pair', String.raw`al\ice@example.com`],
  ['a domain that begins with a dash', 'alice@-example.com'],
  ['a domain with an empty label', 'alice@example..com'],
  ['a domain that ends with a dot', 'alice@example.com.'],
  ['a name that begins with a dot', '.alice@example.com'],
  ['letters that are not ASCII', 'mıke@example.com'],
  ['65 characters before the sign', `${'a'.repeat(65)}@x.example`],
  [
    '255 characters',
    `a@${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(60)}.${'x'.repeat(9)}`,
  ],
  ['few characters of more octets in ASCII', `alice@${`${'例'.repeat(15)}.`.repeat(12)}example`],

  ['a flood', `${'a.'.repeat(500_000)}@${'a-'.repeat(500_000)}`],
])('%s is no address', (_, typed) => expect(mailAddress(typed)).toBeUndefined());

test('any text gives an address that needs no quoting, or undefined', () => {
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
