import { describe, expect, test } from '@jest/globals';
import { controlOf } from './control.ts';
import { linesFrom } from './rules.fixture.ts';

const CDN = ['cdn-cache-control'];
const control = (...fields: string[]) => {
  const { targeted, directives } = controlOf(linesFrom(...fields), CDN);
  return [targeted, Object.fromEntries(directives.seconds), [...directives.flags]];
};

describe('RFC 9213 section 2.2: targeted fields', () => {
  test('a targeted field replaces Cache-Control', () => {
    expect(control('CDN-Cache-Control: max-age=600', 'Cache-Control: no-store')).toEqual([
      true,
      { 'max-age': 600 },
      [],
    ]);
  });

  test('the first valid targeted field of the configured list applies', () => {
    const lines = linesFrom('CDN-Cache-Control: max-age=1', 'Here-Cache-Control: max-age=2');
    const first = ['here-cache-control', 'cdn-cache-control'];
    expect(controlOf(lines, first).directives.seconds.get('max-age')).toBe(2);
  });

  test('a targeted field that is not on the list has no effect', () => {
    expect(control('Other-Cache-Control: no-store')).toEqual([false, {}, []]);
  });

  test.each(['', 'max-age=600, foo=&*()', 'Max-Age=600', 'max-age =600', 'no-store,'])(
    'section 2.1: a targeted field with the value %j is empty or malformed, and is ignored',
    (value) => {
      expect(control(`CDN-Cache-Control: ${value}`, 'Cache-Control: max-age=5')).toEqual([
        false,
        { 'max-age': 5 },
        [],
      ]);
    },
  );

  test('several lines of a targeted field are combined', () => {
    expect(control('CDN-Cache-Control: max-age=600', 'CDN-Cache-Control: private')).toEqual([
      true,
      { 'max-age': 600 },
      ['private'],
    ]);
  });
});

describe('RFC 9213 section 2.1: types of values', () => {
  test.each([
    'max-age="600"',
    'max-age=600.5',
    'max-age=a',
    'max-age=(600)',
    'max-age=-1',
    'max-age',
  ])('%s in a targeted field is a lifetime of zero', (value) => {
    expect(control(`CDN-Cache-Control: ${value}`)).toEqual([true, { 'max-age': 0 }, []]);
  });

  test.each([
    ['no-store;x=1, max-age=600;y', { 'max-age': 600 }, ['no-store']],
    ['no-store=?0', {}, []],
    ['private=a', {}, ['private']],
    ['none', {}, ['none']],
  ])('the members of the targeted field %s are read as directives', (value, seconds, flags) => {
    expect(control(`CDN-Cache-Control: ${value}`)).toEqual([true, seconds, flags]);
  });

  test('a string argument of private in a targeted field lists field names', () => {
    const { fields } = controlOf(linesFrom('CDN-Cache-Control: private="a, B"'), CDN).directives;
    expect([...(fields.get('private') ?? [])]).toEqual(['a', 'b']);
  });
});
