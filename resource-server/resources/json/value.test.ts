import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { json } from './json.fixture.ts';
import { equal } from './value.ts';

const same = (one: string, other: string) => equal(json(one), json(other));

test.each([
  ['1', '1.0'],
  ['1', '1e0'],
  ['100', '1E+2'],
  ['0.01', '10e-3'],
  ['0', '-0.000e99'],
  ['10000000000000000000000000000000000000001', '1.0000000000000000000000000000000000000001e40'],
  ['1e99999999999999999999999', '10e99999999999999999999998'],
  ['{"a":1,"b":[2,{"c":null}]}', '{"b":[2,{"c":null}],"a":1}'],
  ['"\\u00e9"', '"é"'],
  ['{"__proto__":1}', '{"__proto__":1}'],
])('RFC 6902 section 4.6: %s equals %s', (one, other) => {
  expect(same(one, other)).toBe(true);
  expect(same(other, one)).toBe(true);
});

test.each([
  ['9007199254740992', '9007199254740993'],
  ['0.1', '0.1000000000000000055511151231257827'],
  ['1e400', '1e401'],
  ['1', '-1'],
  ['1', '"1"'],
  ['0', 'false'],
  ['null', 'false'],
  ['null', '0'],
  ['""', 'null'],
  ['[]', '{}'],
  ['[1,2]', '[2,1]'],
  ['[1]', '[1,2]'],
  ['[null]', '[]'],
  ['{"a":1}', '{"a":1,"b":2}'],
  ['{"a":1}', '{"b":1}'],
  ['{"a":null}', '{"b":null}'],
  ['{"__proto__":1}', '{"__proto__":2}'],
  ['{"__proto__":{}}', '{"toString":{}}'],
  ['"\\u00e9"', '"e\\u0301"'],
])('RFC 6902 section 4.6: %s does not equal %s', (one, other) => {
  expect(same(one, other)).toBe(false);
  expect(same(other, one)).toBe(false);
});

test('RFC 6902 section 4.6: a number equals itself in every notation, and no other number', () => {
  const zeros = fc.nat({ max: 40 }).map((count) => '0'.repeat(count));
  const digits = fc.tuple(fc.nat(), zeros, fc.nat()).map((parts) => parts.join(''));
  fc.assert(
    fc.property(digits, zeros, fc.nat({ max: 60 }), (whole, more, shift) => {
      const plain = `1${whole}${more}`;
      const at = Math.min(shift, plain.length - 1) + 1;
      const written = `${plain.slice(0, at)}.${plain.slice(at)}0${more}e${plain.length - at}`;
      expect(same(plain, written)).toBe(true);
      expect(same(plain, `-${written}`)).toBe(false);
      expect(same(plain, `${written}1`)).toBe(false);
      expect(same(plain, written.replace('1', '2'))).toBe(false);
    }),
  );
});

test('RFC 6902 section 4.6: comparing a thousand numbers with many zeros a thousand times is fast', () => {
  const number = `1${'0'.repeat(998)}1`;
  const one = json(number);
  for (let time = 0; time < 1000; time += 1) expect(equal(one, json(number))).toBe(true);
  expect(same(number, `1${'0'.repeat(998)}2`)).toBe(false);
});

test('RFC 6902 section 4.6: every value equals itself, also with its members in reverse order', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, member]) => [name, reversed(member)]);
    return Object.fromEntries(entries.toReversed());
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(same(JSON.stringify(value), JSON.stringify(reversed(value)))).toBe(true);
    }),
  );
});
