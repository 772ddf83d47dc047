import { expect, test } from '@jest/globals';
import { mailKey } from './mail-key.ts';

test.each([
  ['alice@example.com', 'alice@example.com'],
  ['ALICE@Example.COM', 'alice@example.com'],
  ['a@Bücher.example', 'a@xn--bcher-kva.example'],
  ['a@bu\u0308cher.example', 'a@xn--bcher-kva.example'],
  ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
  [' a@ｅxample.com', 'a@example.com'],
])('RFC 5891 section 5.5: %j is %j', (text, key) => expect(mailKey(text)).toBe(key));

test.each([
  ['a single label', 'ÄB@x', 'Äb@x'],
  ['other letters before the sign', 'Ä@bücher.example', 'Ä@bücher.example'],
  ['two signs', 'A@B@bücher.example', 'a@b@bücher.example'],
  ['none', 'Bücher.example', 'bücher.example'],
  ['a domain with a path', 'a@bücher.example/X', 'a@bücher.example/x'],
  ['a label of 64 octets in ASCII', `a@${'ü'.repeat(63)}.example`, `a@${'ü'.repeat(63)}.example`],
  ['more than any domain', `a@${'ü'.repeat(255)}.example`, `a@${'ü'.repeat(255)}.example`],
  ['nothing', '', ''],
])('%s stays, but for ASCII capitals', (_, text, key) => expect(mailKey(text)).toBe(key));
