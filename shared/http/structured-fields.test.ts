import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseDictionary, parseList } from './structured-fields.ts';

/** Returns the members as plain values, without their parameters. */
const plain = (value: string) => {
  const members = parseDictionary(value);
  return members && Object.fromEntries([...members].map(([key, member]) => [key, member.value]));
};

describe('RFC 9651 sections 3.1 and 3.2: as much is read as recipients have to take', () => {
  const many = (length: number, of: (at: number) => string) =>
    Array.from({ length }, (_, at) => of(at));

  test.each([
    ['1,024 members with a parameter each', many(1024, (at) => `k${at};a`).join()],
    ['256 items of an inner list', `a=(${many(256, String).join(' ')})`],
    ['256 parameters', `a${many(256, (at) => `;k${at}`).join('')}`],
  ])('%s', (_title, dictionary) => {
    expect(parseDictionary(dictionary)).toBeDefined();
  });

  test.each<[title: string, listOf: (count: number) => string]>([
    ['members', (count) => many(count, String).join()],
    ['items of an inner list', (count) => `(${many(count - 1, String).join(' ')})`],
    ['items of many inner lists', (count) => many(count / 4, () => '(1 2 3)').join()],
    ['parameters', (count) => `a${';b'.repeat(count - 1)}`],
    ['parameters of items', (count) => `(${many((count - 1) / 3, () => '1;a;b').join(' ')})`],
  ])(
    'RFC 9110 section 5.4: 4,096 items and parameters are all read, and a field with more is ignored: %s',
    (_title, listOf) => {
      expect(parseList(listOf(4096))).toBeDefined();
      expect(parseList(`${listOf(4096)},a`)).toBeUndefined();
    },
  );
});

describe('RFC 8941 section 4.2.2: dictionaries', () => {
  test.each([
    ['', {}],
    ['  ', {}],
    ['a', { a: true }],
    [' a=1, b=?0 ', { a: 1, b: false }],
    ['a=1\t,\tb=2', { a: 1, b: 2 }],
    ['a=1,b=2,a=3', { a: 3, b: 2 }],
    ['*a_b-c.d=x', { '*a_b-c.d': 'x' }],
  ])('%j', (value, members) => {
    expect(plain(value)).toEqual(members);
  });

  test.each([
    'a=1,',
    ',a=1',
    'a=1,,b',
    'a=1 b=2',
    'A=1',
    '1=a',
    '=1',
    'a=',
    'a =1',
    'a= 1',
    '\ta=1',
  ])('%j is none', (value) => {
    expect(parseDictionary(value)).toBeUndefined();
  });

  test('the last value of a repeated key has the position of the first', () => {
    expect([...(parseDictionary('a=1, b, a=2') ?? [])].map(([key]) => key)).toEqual(['a', 'b']);
  });
});

describe('RFC 8941 section 4.2.1: lists', () => {
  test.each([
    ['', []],
    ['a, "b"\t,\t3', ['a', 'b', 3]],
    [' a;x=1;y, a ', ['a', 'a']],
    ['sugar, tea, rum', ['sugar', 'tea', 'rum']],
  ])('%j', (value, members) => {
    expect(parseList(value)?.map((member) => member.value)).toEqual(members);
  });

  test('members keep their parameters, and an inner list its items', () => {
    const [one, list] = parseList('Cache; hit; ttl=5, (a b);q=1') ?? [];
    expect([...(one?.params ?? [])].map(([name, { value }]) => [name, value])).toEqual([
      ['hit', true],
      ['ttl', 5],
    ]);
    expect(list).toMatchObject({ type: 'inner-list', value: [{ value: 'a' }, { value: 'b' }] });
  });

  test.each(['a,', ',a', 'a,,b', 'a b', 'a;', '(a', '\ta', 'a=1'])('%j is none', (value) => {
    expect(parseList(value)).toBeUndefined();
  });
});

describe('RFC 8941 section 4.2.3.1: bare items', () => {
  test.each([
    ['42', 'integer', 42],
    ['-999999999999999', 'integer', -999_999_999_999_999],
    ['4.5', 'decimal', 4.5],
    ['-123456789012.125', 'decimal', -123_456_789_012.125],
    ['1.0', 'decimal', 1],
    [String.raw`"a \"b\\"`, 'string', String.raw`a "b\ `.trim()],
    ['""', 'string', ''],
    ['a/b:c', 'token', 'a/b:c'],
    ['*', 'token', '*'],
    ['?1', 'boolean', true],
    ['?0', 'boolean', false],
    [':aGk=:', 'bytes', Buffer.from('hi')],
    ['@1659578233', 'date', 1_659_578_233],
    ['@-5', 'date', -5],
    [
      '%"This is intended for display to %c3%bcsers."',
      'display-string',
      'This is intended for display to üsers.',
    ],
    ['%""', 'display-string', ''],
    [':aGk:', 'bytes', Buffer.from('hi')],
    ['::', 'bytes', Buffer.alloc(0)],
  ])('%s', (text, type, value) => {
    expect(parseDictionary(`a=${text}`)?.get('a')).toEqual({ type, value, params: new Map() });
  });

  test.each([
    ['1234567890123456', 'has more than 15 digits'],
    ['1234567890123.1', 'has more than 12 digits before the point'],
    ['1.2345', 'has more than three behind it'],
    ['1.', 'has none'],
    ['.5', 'has none before it'],
    ['--1', 'has two signs'],
    ['-', 'has no digit'],
    ['1e3', 'has an exponent'],
    ['"a', 'does not end'],
    [String.raw`"\a"`, 'escapes what is not escaped'],
    ['"é"', 'is not ASCII'],
    ['"a\tb"', 'has a control character'],
    ['?2', 'is no boolean'],
    ['?', 'is no boolean'],
    [':a:', 'is no base64'],
    [':a b:', 'is no base64'],
    [':aGk=', 'does not end'],
    ['@1.5', 'is a date with a fraction'],
    ['@', 'is a date without digits'],
    ['@1234567890123456', 'is a date with more than 15 digits'],
    ['%"a', 'is a display string that does not end'],
    ['%a', 'is no display string'],
    ['%"%C3%BC"', 'has escapes in capital letters'],
    ['%"%c3"', 'is no UTF-8'],
    ['%"%f"', 'has half an escape'],
    ['%"ü"', 'is not ASCII'],
  ])('%s %s', (text) => {
    expect(parseDictionary(`a=${text}`)).toBeUndefined();
  });
});

describe('RFC 8941 section 4.2.3.2: parameters', () => {
  test('parameters belong to their member', () => {
    const params = parseDictionary('a;x;y=2; z="s";y=3, b=1;q=0.5')?.get('a')?.params;
    expect([...(params ?? [])].map(([key, { value }]) => [key, value])).toEqual([
      ['x', true],
      ['y', 3],
      ['z', 's'],
    ]);
  });

  test.each(['a;', 'a;X', 'a ;x', 'a;x=', 'a;x=(1)', 'a;x =1'])('%j is none', (value) => {
    expect(parseDictionary(value)).toBeUndefined();
  });
});

describe('RFC 8941 section 4.2.1.2: inner lists', () => {
  test.each([
    ['a=()', []],
    ['a=( )', []],
    ['a=( 1  b "c" )', [1, 'b', 'c']],
    ['a=(1;x);y', [1]],
  ])('%s', (value, items) => {
    const member = parseDictionary(value)?.get('a');
    expect(member?.type === 'inner-list' && member.value.map((item) => item.value)).toEqual(items);
  });

  test.each(['a=(', 'a=(1', 'a=(1,2)', 'a=(1\t2)', 'a=(1"b")', 'a=((1))', 'a=)'])(
    '%s is no dictionary',
    (value) => {
      expect(parseDictionary(value)).toBeUndefined();
    },
  );
});

test('RFC 8941 section 4.2: any text gives a dictionary or undefined, and no member is inherited', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'"\\,;=()?:. \ta*-1é'.split('')) }),
      (value) => {
        const members = parseDictionary(value);
        expect(members === undefined || members instanceof Map).toBe(true);
      },
    ),
  );
  expect(parseDictionary('a')?.get('constructor')).toBeUndefined();
});
