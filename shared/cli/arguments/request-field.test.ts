import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { UsageError } from './command.ts';
import { parseField } from './request-field.ts';

test.each([
  ['If-Match: "a"', ['if-match', '"a"']],
  ['X:', ['x', '']],
  ['x: \t a  b \t', ['x', 'a  b']],
  ['x::y', ['x', ':y']],
])('RFC 9110 section 5.1: %j is read as name and value', (text, field) => {
  expect(parseField(text)).toEqual(field);
});

test.each([
  '',
  'x',
  ': y',
  'x y: z',
  'x : y',
  'x: a\r\nauthorization: b',
  'x: \0',
  'x: a\n',
  'x: \u{1f600}',
  'Authorization: a',
  'dpop: a',
  'HOST: a',
  'Content-Length: 1',
  'Transfer-Encoding: chunked',
])('%j is refused', (text) => {
  expect(() => parseField(text)).toThrow(UsageError);
});

test('no accepted field contains a line end', () => {
  fc.assert(
    fc.property(anyText(), anyText(), (name, value) => {
      try {
        const field = parseField(`${name}:${value}`);
        expect(field.join(':')).toMatch(/^[\t -~\x80-\xff]+$/);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
  );
});
