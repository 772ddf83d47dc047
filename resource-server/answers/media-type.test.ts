import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isMediaType, typeOfName } from './media-type.ts';

describe('RFC 9110 section 8.3.1: media-type', () => {
  test.each([
    'text/plain',
    'text/html;charset=utf-8',
    'Text/HTML;Charset="utf-8"',
    'text/html; charset="utf-8" ; a=b;',
    'application/vnd.api+json',
    String.raw`text/plain; x="a\"b"`,
  ])('%s is a media type', (value) => {
    expect(isMediaType(value)).toBe(true);
  });

  test.each([
    '',
    'text',
    'text/',
    '/plain',
    'text /plain',
    'text/plain, text/html',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain; charset = utf-8',
    'text/plain; x="a',
    'text/plain; x="a" b',
    'text/plain\r\nSet-Cookie: a=b',
    'text/plain;x="\0"',
    'text/plän',
    `text/${'a'.repeat(255)}`,
  ])('%j is not a media type', (value) => {
    expect(isMediaType(value)).toBe(false);
  });

  const token = fc.stringMatching(/^[a-z0-9!#$&^_.+-]{1,20}$/);
  const quoted = fc
    .string({ unit: fc.constantFrom(...' abc;,=/\\"\t'.split('')), maxLength: 20 })
    .map((value) => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
  const space = fc.stringMatching(/^[ \t]{0,3}$/);
  const parameter = fc.tuple(space, space, token, fc.oneof(token, quoted));

  test('every string of the grammar is a media type', () => {
    fc.assert(
      fc.property(token, token, fc.array(parameter, { maxLength: 4 }), (type, subtype, rest) => {
        const parameters = rest.map(([a, b, name, value]) => `${a};${b}${name}=${value}`);
        const value = `${type}/${subtype}${parameters.join('')}`;
        expect(isMediaType(value)).toBe(value.length <= 255);
      }),
    );
  });

  test('a string with a control or non-ASCII character is not a media type', () => {
    const bad = fc.constantFrom('\r', '\n', '\0', '\x7f', 'é', '\u{1f600}');
    const good = 'text/plain; a=b; c="d e"';
    fc.assert(
      fc.property(fc.nat({ max: good.length }), bad, (at, character) => {
        expect(isMediaType(good.slice(0, at) + character + good.slice(at))).toBe(false);
      }),
    );
  });

  test('checking a media type takes linear time for any number of spaces and semicolons', () => {
    expect(isMediaType(`a/b${' ;'.repeat(125)}x`)).toBe(false);
    expect(isMediaType(`a/b${'; '.repeat(125)}(`)).toBe(false);
  });
});

test.each([
  ['a/notes.txt', 'text/plain'],
  ['a.b/data.JSON', 'application/json'],
  ['page.html', 'text/html'],
  ['.json', 'application/octet-stream'],
  ['json', 'application/octet-stream'],
  ['a.json/none', 'application/octet-stream'],
  ['', 'application/octet-stream'],
])('RFC 9110 section 8.3: the default type of the document %j is %s', (path, type) => {
  expect(typeOfName(path)).toBe(type);
});
