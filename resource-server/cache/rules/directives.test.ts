import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { FOREVER, parseDirectives } from './directives.ts';

const seconds = (...values: string[]) => Object.fromEntries(parseDirectives(values).seconds);
const flags = (...values: string[]) => [...parseDirectives(values).flags];
const fields = (...values: string[]) =>
  Object.fromEntries([...parseDirectives(values).fields].map(([name, of]) => [name, [...of]]));

describe('RFC 9111 section 5.2: directives', () => {
  test.each([
    ['MaX-AgE=3600', { 'max-age': 3600 }],
    ['max-age="3600"', { 'max-age': 3600 }],
    ['max-age=003600', { 'max-age': 3600 }],
    [',, max-age=1 ,,', { 'max-age': 1 }],
    ['extension="max-age=3600", max-age=1', { 'max-age': 1 }],
    ['max-age=1, extension="max-age=3600"', { 'max-age': 1 }],
    [String.raw`extension="a\", max-age=3600", s-maxage=2`, { 's-maxage': 2 }],
    ['max-age=1; s-maxage=2', { 'max-age': 0 }],
  ])('%s gives the right times', (value, expected) => {
    expect(seconds(value)).toEqual(expected);
  });

  test('directives come from all lines, and the case of their names does not matter', () => {
    expect(flags('No-Store', 'PUBLIC, x-unknown=1')).toEqual(['no-store', 'public', 'x-unknown']);
  });

  test.each(['a="b, no-store', 'a="b", no-store', '"no, no-store', '=, no-store', 'a=, no-store'])(
    'a malformed part does not hide the directives after it: %s',
    (value) => {
      expect(flags(value)).toContain('no-store');
    },
  );
});

describe('RFC 9110 section 5.6.4: behind a quote that is not closed', () => {
  const DOUBTFUL = [
    String.raw`x="a\", `,
    'x="a, ',
    '"x, ',
    'x=a"b, ',
    'x="a"b"c, ',
    'x="a\u0001", ',
  ];

  test.each(DOUBTFUL)('after %s permissions are ignored', (before) => {
    expect(flags(`${before}public`)).not.toContain('public');
    expect(flags(`no-store, ${before}must-understand`)).not.toContain('must-understand');
    expect(flags(`${before}must-revalidate`)).not.toContain('must-revalidate');
    expect(seconds(`${before}s-maxage=60`)).toEqual({});
    expect(seconds(`${before}max-age=60`)).toEqual({ 'max-age': 0 });
    expect(seconds(`${before}max-stale`)).toEqual({ 'max-stale': 0 });
    expect(seconds(`${before}stale-while-revalidate=60`)).toEqual({ 'stale-while-revalidate': 0 });
  });

  test.each(DOUBTFUL)(
    'after %s restrictions apply, and directives before it stay valid',
    (before) => {
      for (const name of ['no-store', 'no-cache', 'private', 'proxy-revalidate']) {
        expect(flags(`public, ${before}${name}`)).toEqual(expect.arrayContaining(['public', name]));
      }
      expect(seconds(`max-age=60, ${before}min-fresh=1`)).toEqual({
        'max-age': 60,
        'min-fresh': FOREVER,
      });
    },
  );

  test.each([
    'public"',
    'public=',
    's-maxage="60',
    's-maxage=6 0',
    'must-revalidate=,',
    'must-understand="',
    'public="x"',
    'public=1',
    'must-revalidate=1',
    'must-understand="set-cookie"',
  ])('a malformed %s permits nothing', (value) => {
    expect([flags(value), seconds(value)]).toEqual([['no-cache'], {}]);
  });
});

describe('RFC 9111 section 1.2.2: delta-seconds', () => {
  test.each(['2147483648', '2147483649', '99999999999', '9'.repeat(400)])(
    'max-age=%s is capped at the longest time',
    (value) => {
      expect(seconds(`max-age=${value}`)).toEqual({ 'max-age': FOREVER });
    },
  );
});

describe('RFC 9111 section 4.2.1: an invalid or repeated directive is read as strictly as possible', () => {
  test.each(['-1', '1.5', '3600.0', "'3600'", 'a100', '100a', '1 0', '""', ''])(
    'max-age=%s is a lifetime of zero',
    (value) => {
      expect(seconds(`max-age=${value}`)).toEqual({ 'max-age': 0 });
    },
  );

  test.each(['max-age', 'max-age =3600', 'max-age= 3600', 'max-age="3600'])(
    '%s is a lifetime of zero',
    (value) => {
      expect(seconds(value)).toEqual({ 'max-age': 0 });
    },
  );

  test.each([[['max-age=1800, max-age=1']], [['max-age=1', 'max-age=1800']]])(
    'the shorter max-age of %j applies',
    (values) => {
      expect(seconds(...values)).toEqual({ 'max-age': 1 });
    },
  );

  test('the greatest of several values of min-fresh applies', () => {
    expect(seconds('min-fresh=1, min-fresh=5')).toEqual({ 'min-fresh': 5 });
    expect(seconds('min-fresh=x')).toEqual({ 'min-fresh': FOREVER });
  });

  test('section 5.2.1.2: max-stale without a value allows any time, and an invalid value allows none', () => {
    expect(seconds('max-stale')).toEqual({ 'max-stale': FOREVER });
    expect(seconds('max-stale=x')).toEqual({ 'max-stale': 0 });
  });
});

describe('RFC 9111 sections 5.2.2.4 and 5.2.2.7: directives about some fields', () => {
  test.each([
    ['no-cache="Set-Cookie"', { 'no-cache': ['set-cookie'] }],
    ['private="a, B,,c"', { private: ['a', 'b', 'c'] }],
    ['private=a', { private: ['a'] }],
    ['no-cache="a", no-cache="b"', { 'no-cache': ['b', 'a'] }],
  ])('%s applies to the listed fields only', (value, expected) => {
    expect([fields(value), flags(value)]).toEqual([expected, []]);
  });

  test.each(['private=""', 'private="a b"', 'private="set-cookie', 'private="a", private'])(
    '%s applies to the whole answer',
    (value) => {
      expect([fields(value), flags(value)]).toEqual([{}, ['private']]);
    },
  );
});

test('RFC 9110 section 5.4: after 1,024 directives the cache assumes the strictest ones', () => {
  const many = (length: number) => Array<string>(length).fill('public').join();
  expect(flags(many(1000), many(23), 'max-age=1')).toEqual(['public']);
  for (const more of ['private', 'no-store', 'x']) {
    expect(flags(many(1000), many(24), more)).toEqual(['public', 'no-store', 'no-cache']);
  }
});

test('RFC 9111 section 5.2: a directive after random octets is read', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\\,= \ta-1é\n'.split('')) }), (value) => {
      expect(flags(value, 'no-store')).toContain('no-store');
      const times = Object.values(seconds(value));
      expect(times.every((time) => time >= 0 && time <= FOREVER)).toBe(true);
    }),
  );
});
