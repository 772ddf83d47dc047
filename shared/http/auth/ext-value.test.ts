import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { parseExtValue } from './ext-value.ts';

describe('RFC 8187 section 3.2: ext-value', () => {
  test.each([
    ["UTF-8''J%C3%A4s%C3%B8n%20Doe", 'Jäsøn Doe'], // RFC 7616 section 3.9.2
    ["UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", '£ and € rates'], // RFC 8187 section 3.2.2
    ["utf-8'en'alice", 'alice'],
    ["UTF-8'de-CH-1996'a", 'a'],
    ["UTF-8''", ''],
    ["UTF-8''a!#$&+-.^_`|~", 'a!#$&+-.^_`|~'],
    ["UTF-8''%25%27%22", `%'"`],
  ])('%s', (value, text) => expect(parseExtValue(value)).toBe(text));

  test.each([
    ['no charset', "''alice"],
    ['another charset', "ISO-8859-1''%A3"],
    ['one quote', "UTF-8'alice"],
    ['three quotes', "UTF-8'''alice"],
    ['no quotes', 'alice'],
    ['an escape that is cut', "UTF-8''a%4"],
    ['an escape that is not hexadecimal', "UTF-8''a%zz"],
    ['octets that are not UTF-8', "UTF-8''%E4"],
    ['an overlong slash', "UTF-8''%C0%AF"],
    ['half a surrogate pair', "UTF-8''%ED%A0%80"],
    ['a space', "UTF-8''a b"],
    ['a star', "UTF-8''a*"],
    ['CR LF', "UTF-8''a\r\nb"],
    ['CR LF at the end', "UTF-8''a\n"],
    ['an octet that is not encoded', "UTF-8''\xe4"],
  ])('refuses %s', (_, value) => expect(parseExtValue(value)).toBeUndefined());

  test('every text is read again from its percent-encoded form', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const encoded = encodeURIComponent(text.toWellFormed()).replaceAll(
          /['()*]/g,
          (character) => `%${character.charCodeAt(0).toString(16)}`,
        );
        expect(parseExtValue(`UTF-8''${encoded}`)).toBe(text.toWellFormed());
      }),
    );
  });

  test('parseExtValue never throws', () => {
    const text = fc.string({
      unit: fc.constantFrom('U', 'T', 'F', '-', '8', "'", '%', 'a', 'é', '0', ' '),
    });
    fc.assert(
      fc.property(text, (value) => {
        parseExtValue(value);
        parseExtValue(`UTF-8''${value}`);
      }),
    );
  });
});
