import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { HttpError } from '#shared/http/answer.ts';
import { json, textOf } from './json.fixture.ts';
import { MAX_DEPTH, MAX_VALUES, MalformedJson, parseJson } from './parse.ts';

/** Text of any JSON value, with a client's choice of formatting. */
const TEXT = fc
  .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t', '\r\n'))
  .map(([value, space]) => JSON.stringify(value, undefined, space));

test('RFC 8259: the parser accepts what JSON.parse accepts, with the same value', () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      expect(JSON.parse(textOf(json(text)))).toStrictEqual(JSON.parse(text));
    }),
  );
});

test('RFC 8259: the parser refuses what JSON.parse refuses, for any text with one edit', () => {
  fc.assert(
    fc.property(
      TEXT,
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom(...'{}[]:,"\\0123456789.eE+-truefalsn \t\n\u0000\u001f/'.split('')),
      (text, where, cut, inserted) => {
        const at = where % (text.length + 1);
        const edited = `${text.slice(0, at)}${inserted}${text.slice(at + cut)}`;
        let valid = true;
        try {
          JSON.parse(edited);
        } catch {
          valid = false;
        }
        try {
          json(edited);
          expect(valid).toBe(true);
        } catch (error) {
          if (!(error instanceof MalformedJson)) throw error;
          // JSON.parse accepts duplicate names.
          expect(valid && !error.message.includes('twice')).toBe(false);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ['no text at all', ''],
  ['white space alone', ' \n'],
  ['a byte that is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['two texts', '{} {}'],
  ['a comma too many', '[1,]'],
  ['no comma', '[1 2]'],
  ['a name without quotes', '{a:1}'],
  ['single quotes', "{'a':1}"],
  ['a member without a value', '{"a"}'],
  ['an object that never ends', '{"a":1'],
  ['an array that never ends', '[[1]'],
  ['a string that never ends', '"abc'],
  ['a backslash at the end', '"abc\\'],
  ['a bad escape', '"\\x41"'],
  ['half a Unicode escape', '"\\u00"'],
  ['a line break in a string', '"a\nb"'],
  ['a leading zero', '01'],
  ['a plus sign', '+1'],
  ['a number without its whole part', '.5'],
  ['a number that ends in a point', '1.'],
  ['half an exponent', '1e'],
  ['NaN', 'NaN'],
  ['a word in upper case', 'TRUE'],
  ['a word too long', 'nullify'],
  ['a name of Object.prototype as a word', 'constructor'],
  ['a comment', '/* */ 1'],
  ['a no-break space', '\u00a01'],
])('RFC 8259: the parser refuses %s', (_, text) => {
  expect(() => parseJson(Buffer.from(text))).toThrow(MalformedJson);
});

test('RFC 8259 section 8.1: the parser ignores a byte order mark', () => {
  expect(json('\ufeff1')).toBe(1);
});

describe('RFC 8259 section 4', () => {
  test.each(['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"b":{"a":1,"c":2,"a":3}}]'])(
    'the parser refuses duplicate names: %s',
    (text) => expect(() => json(text)).toThrow(MalformedJson),
  );

  test('the same name in two objects is no duplicate', () => {
    expect(textOf(json('[{"a":{"a":1}},{"a":2}]'))).toBe('[{"a":{"a":1}},{"a":2}]');
  });

  test('members keep their order, even if a name looks like an index', () => {
    expect(textOf(json('{"b":1,"1":2,"a":3,"0":4}'))).toBe('{"b":1,"1":2,"a":3,"0":4}');
  });

  test('the parser treats names of Object.prototype like other names', () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":null}';
    expect(textOf(json(text))).toBe(text);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

test.each([
  '9007199254740993',
  '-9007199254740993',
  '123456789012345678901234567890.123456789',
  '0.1000000000000000055511151231257827',
  '1.0',
  '-0',
  '1e400',
  '1E+2',
  '5e-324',
  '1e-999999999999',
])('RFC 8259 section 6: the number %s keeps its notation', (text) => {
  expect(textOf(json(`{"n":[${text}]}`))).toBe(`{"n":[${text}]}`);
});

test('RFC 8259 section 7: a lone surrogate is preserved', () => {
  expect(textOf(json('"\\ud800"'))).toBe('"\\ud800"');
});

describe('RFC 8259 section 9: limits of the parser', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}0${']'.repeat(levels)}`;
  const many = (values: number) =>
    `[${Array<string>(values - 1)
      .fill('0')
      .join(',')}]`;

  test.each([
    ['levels', nested(MAX_DEPTH)],
    ['values', many(MAX_VALUES)],
    ['digits', '9'.repeat(1000)],
  ])('the parser accepts the maximum of %s', (_, text) => {
    expect(() => json(text)).not.toThrow();
  });

  test.each([
    ['level', nested(MAX_DEPTH + 1)],
    ['level, of a million,', '['.repeat(1_000_000)],
    ['level of objects', '{"a":'.repeat(100_000)],
    ['value', many(MAX_VALUES + 1)],
    ['digit', '9'.repeat(1001)],
  ])('the parser refuses one %s more at once, with 422', (_, text) => {
    expect(() => json(text)).toThrow(expect.objectContaining({ status: 422 }));
  });
});

test('any bytes are parsed or refused as malformed or 422', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        parseJson(Buffer.from(bytes));
      } catch (error) {
        expect(error instanceof MalformedJson || error instanceof HttpError).toBe(true);
      }
    }),
  );
});
