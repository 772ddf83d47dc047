import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import type { HttpError } from '#shared/http/answer.ts';
import { compileFilter } from './filter.ts';

const ROWS = [
  { name: 'b', size: 10, open: true },
  { name: 'a', size: 9, open: null, 'a b': 'ü' },
  { name: 'c', size: '9', tags: ['x'] },
  { name: 'a', open: false },
];

const filter = (text: string, value: unknown = ROWS) => [...compileFilter(text)(value)];
const namesOf = (text: string) => filter(text).map((row) => (row as { name: string }).name);

describe('comparing members', () => {
  test.each([
    ['', 'baca'],
    ['&&', 'baca'],
    ['name=a', 'aa'],
    ['name=a&name=b', 'baa'],
    ['name=a&open=false', 'a'],
    ['size=9', 'ac'],
    ['size=9.0', ''],
    ['open=null', 'a'],
    ['open=true', 'b'],
    ['open', ''],
    ['tags=x', ''],
    ['a+b=%C3%BC', 'a'],
    ['%6eame=a', 'aa'],
  ])('the filter %s keeps the expected rows', (text, names) => {
    expect(namesOf(text).join('')).toBe(names);
  });
});

describe('a comparison of a member that no object has', () => {
  const unknown = ['missing=undefined', 'toString=', '__proto__=', 'Limit=1', 'name=a&nam=a'];

  test.each(unknown)('a comparison with a member that no object has keeps nothing: %s', (text) => {
    expect(filter(text)).toEqual([]);
  });

  test.each(unknown)('a comparison with a member outside the fixed members is 422: %s', (text) => {
    expect(() => compileFilter(text, ['name', 'size'])).toThrow(
      expect.objectContaining({
        status: 422,
        message: expect.stringContaining('The members are: name, size.'),
      }),
    );
  });

  test('a comparison with a possible member that no object has keeps nothing', () => {
    expect([...compileFilter('nam=a', ['name', 'nam'])(ROWS)]).toEqual([]);
  });
});

describe('sort, offset, limit and select', () => {
  test.each([
    ['sort=name', 'aabc'],
    ['sort=-name', 'cbaa'],
    ['sort=size', 'abca'],
    ['sort=-size', 'baca'],
    ['sort=open', 'baca'],
    ['offset=1&limit=2', 'ac'],
    ['limit=0', ''],
    ['offset=9', ''],
  ])('the filter %s orders and limits the rows', (text, names) => {
    expect(namesOf(text).join('')).toBe(names);
  });

  test('a second sort key decides if the first is equal', () => {
    expect(filter('sort=name,-size&select=name,size&limit=2')).toEqual([
      { name: 'a', size: 9 },
      { name: 'a' },
    ]);
  });

  test('select treats a member called __proto__ like any other', () => {
    const rows = JSON.parse('[{"__proto__":{"admin":true},"a":1}]') as unknown;
    const [row] = filter('select=__proto__', rows);
    expect(JSON.stringify(row)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
  });
});

test('a filter leaves out elements that are not objects', () => {
  expect(filter('', [1, null, 'a', [{}], { a: 1 }])).toEqual([{ a: 1 }]);
});

test.each([{}, 'a', 1, null])('RFC 10008 section 2.1: %j cannot be filtered: 422', (value) => {
  expect(() => filter('', value)).toThrow(expect.objectContaining({ status: 422 }));
});

test.each(['%', 'a=%2', '%zz=1', 'a=%ff', 'a=%C3'])(
  'RFC 10008 section 2.1: %s is not a form: 400',
  (text) => {
    expect(() => compileFilter(text)).toThrow(BadRequest);
  },
);

test.each([
  'limit=',
  'limit=-1',
  'limit=1e3',
  'limit=1.0',
  'offset=x',
  'limit=1&limit=2',
  'select=a&select=b',
  'limit=12345678901',
  'select=',
  'sort=a,,b',
])('RFC 10008 section 2.1: the filter %s is 422', (text) => {
  expect(() => compileFilter(text)).toThrow(expect.objectContaining({ status: 422 }));
});

test('the filter reads forms that URLSearchParams writes', () => {
  const name = anyText({ minLength: 1 });
  fc.assert(
    fc.property(name, anyText(), (key, value) => {
      fc.pre(!['select', 'sort', 'offset', 'limit'].includes(key));
      const row = Object.fromEntries([[key, value]]);
      const other = Object.fromEntries([[key, `${value}.`]]);
      expect(filter(new URLSearchParams([[key, value]]).toString(), [other, row])).toEqual([row]);
    }),
  );
});

test('any text is a valid filter, or is refused', () => {
  const text = fc.oneof(
    anyText(),
    fc.string({ unit: fc.constantFrom('=', '&', '%', '+', ',', '-', '2', 'limit', 'sort', 'a') }),
  );
  fc.assert(
    fc.property(text, fc.array(fc.object()), (form, rows) => {
      try {
        expect(filter(form, rows).length).toBeLessThanOrEqual(rows.length);
      } catch (error) {
        if (!(error instanceof BadRequest)) expect((error as HttpError).status).toBe(422);
      }
    }),
  );
});
