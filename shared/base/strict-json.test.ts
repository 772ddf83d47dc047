import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

function refusal(content: string | Uint8Array): StrictJsonError {
  try {
    parseStrictJson(content);
  } catch (error) {
    if (error instanceof StrictJsonError) return error;
  }
  throw new Error('it is taken');
}

/** fast-check makes no member `__proto__` here, and JSON.stringify writes each member once. */
const VALUE = fc.jsonValue({ maxDepth: 6, noUnicodeString: false }).filter((value) => {
  return !JSON.stringify(value).includes('__proto__');
});

test('each value is read as JSON.parse reads it, from text and from octets', () => {
  fc.assert(
    fc.property(VALUE, fc.constantFrom(undefined, 1, '\t', '\r\n'), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      expect(parseStrictJson(text)).toStrictEqual(JSON.parse(text));
      expect(parseStrictJson(Buffer.from(text))).toStrictEqual(JSON.parse(text));
    }),
  );
});

test('any repeated member is refused, wherever it is, with its path', () => {
  const name = fc.string().filter((text) => text !== '__proto__');
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), name, VALUE, VALUE, (way, twice, one, other) => {
      const key = JSON.stringify(twice);
      const inner = `{${key}:${JSON.stringify(one)},${key}:${JSON.stringify(other)}}`;
      const text = way.reduceRight((held, at) => `[0,{${JSON.stringify(at)} : ${held}}]`, inner);
      const path = [...way.flatMap((at) => ['1', at]), twice];
      expect(refusal(text)).toMatchObject({ path, message: expect.stringMatching(/twice/) });
    }),
  );
});

test.each([
  ['two spellings of one name', String.raw`{"a":1,"\u0061":2}`, ['a']],
  ['__proto__', '{"a":{"__proto__":{}}}', ['a', '__proto__']],
  [
    'a name after strings that look like JSON',
    String.raw`{"a":"{\"b\":","b":["}\\"],"b":1}`,
    ['b'],
  ],
])('refuses %s (RFC 8259 section 4)', (_what, text, path) => {
  expect(refusal(text).path).toEqual(path);
});

test.each([
  ['no text', ''],
  ['half of one', '{"a":'],
  ['octets that are not UTF-8 (section 8.1)', Buffer.from([0x22, 0xff, 0x22])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
])('%s is not JSON', (_what, content) => {
  expect(refusal(content)).toMatchObject({ path: [], message: 'is not JSON' });
});

test('the same name in two objects is accepted', () => {
  expect(parseStrictJson('[{"a":1},{"a":{"a":2}}]')).toEqual([{ a: 1 }, { a: { a: 2 } }]);
});

test('deep nesting is read in linear time, without recursion', () => {
  const deep = `${'{"a":'.repeat(50_000)}0${'}'.repeat(50_000)}`;
  expect(Object.keys(parseStrictJson(deep) as object)).toEqual(['a']);
});
