import { describe, expect, test } from '@jest/globals';
import { asked, date, linesFrom, NOW, raw, SHARED, stored } from './rules.fixture.ts';
import { mayStore } from './storing.ts';
import { conditionLines, freshened, validatedBy, verdictOfHead } from './validation.ts';

const MODIFIED = `Last-Modified: ${date(-9)}`;

describe('RFC 9111 section 4.3.1: the request that validates', () => {
  test.each([
    [[['ETag: "a"', MODIFIED]], ['If-None-Match: "a"', `If-Modified-Since: ${date(-9)}`]],
    [[['ETag: W/"a"']], ['If-None-Match: W/"a"']],
    [[[MODIFIED]], [`If-Modified-Since: ${date(-9)}`]],
    [[['ETag: "a"', MODIFIED], ['ETag: "b"'], ['ETag: "a"'], []], ['If-None-Match: "a", "b"']],
    [[[MODIFIED], [MODIFIED]], []],
    [[['ETag: a']], []],
    [[['ETag: "a"', 'ETag: "b"']], []],
    [[], []],
  ])('for the stored variants %j the cache sends %j', (variants, conditions) => {
    expect(conditionLines(variants.map((fields) => stored(fields)))).toEqual(
      linesFrom(...conditions),
    );
  });
});

test('RFC 9111 section 4.3.1: the tags in a condition are limited in length, except the first', () => {
  const [long, longer] = ['a'.repeat(1500), 'b'.repeat(3000)].map((tag) => `"${tag}"`);
  const askedFor = (...tags: (string | undefined)[]) =>
    conditionLines(tags.map((tag) => stored([`ETag: ${tag}`]))).map(([, value]) => value);
  expect(askedFor(long, '"c"', longer, '"d"')).toEqual([`${long}, "c"`]);
  expect(askedFor(longer, '"d"')).toEqual([longer]);
});

describe('RFC 9111 section 4.3.4: stored answers that a 304 confirms', () => {
  const validated = (given: readonly string[], ...variants: readonly (readonly string[])[]) =>
    validatedBy(
      linesFrom(...given),
      variants.map((fields, index) => stored(fields, { id: String(index) })),
    ).map(({ id }) => id);

  test.each([
    [['ETag: "a"'], [['ETag: "b"'], ['ETag: "a"'], ['ETag: "a"']], ['1', '2']],
    [['ETag: "a"'], [['ETag: W/"a"']], []],
    [['ETag: "x"'], [['ETag: "a"']], []],
    [['ETag: "x"', MODIFIED], [[MODIFIED]], []],
    [
      ['ETag: W/"a"'],
      [
        ['ETag: "a"', `Date: ${date(1)}`],
        ['ETag: W/"a"', `Date: ${date(2)}`],
      ],
      ['1'],
    ],
    [[MODIFIED], [[MODIFIED], [`Last-Modified: ${date(-8)}`]], ['0']],
    [[MODIFIED], [[`Last-Modified: ${date(-8)}`]], []],
    [[], [['ETag: "a"']], ['0']],
    [[], [['ETag: "a"'], ['ETag: "b"']], []],
  ])('a 304 with %j confirms, among %j, the variants %j', (given, variants, ids) => {
    expect(validated(given, ...variants)).toEqual(ids);
  });
});

describe('RFC 9111 section 3.2: fields that a 304 changes', () => {
  const times = { requested: NOW + 5000, received: NOW + 6000 };
  const before = stored(
    [
      'Cache-Control: max-age=2',
      'ETag: "a"',
      'A: 1',
      'B: 1',
      'b: 2',
      'Age: 9',
      `Date: ${date(0)}`,
      'Content-Encoding: gzip',
      'Content-Type: a/b',
    ],
    { outdated: true, tags: ['old'] },
  );
  const after = (given: readonly string[], ...fields: readonly string[]) =>
    freshened(
      before,
      { lines: linesFrom(...given) },
      { rawHeaders: raw(...fields) },
      times,
      SHARED,
    );
  const value = (given: readonly string[], name: string) =>
    after(given)
      .lines.filter(([sent]) => sent.toLowerCase() === name)
      .map(([, text]) => text);

  test('a 304 replaces the fields that it has, and no others', () => {
    const given = ['B: 3', 'C: 4', `Date: ${date(6)}`, 'Content-Type: c/d'];
    expect(value(given, 'a')).toEqual(['1']);
    expect(value(given, 'b')).toEqual(['3']);
    expect(value(given, 'c')).toEqual(['4']);
    expect(value(given, 'date')).toEqual([date(6)]);
    expect(value(given, 'content-type')).toEqual(['c/d']);
  });

  test.each([
    ['Content-Length: 5', 'content-length', []],
    ['Content-Encoding: br', 'content-encoding', ['gzip']],
    ['Content-Range: bytes 1-2/3', 'content-range', []],
    ['Content-Digest: sha-256=:AA==:', 'content-digest', []],
    ['ETag: W/"a"', 'etag', ['"a"']],
  ])('a 304 does not change %s, which describes the stored octets', (line, name, kept) => {
    expect(value([line], name)).toEqual(kept);
  });

  test('after a 304 the age starts again, with the Age of the 304', () => {
    expect(value([], 'age')).toEqual([]);
    expect(value(['Age: 3'], 'age')).toEqual(['3']);
    expect(value([], 'date')).toEqual([date(6)]);
    expect(after([])).toMatchObject({
      ...times,
      outdated: false,
      id: '1',
      length: 10,
      status: 200,
    });
  });

  test('section 3.1: a field of a 304 that must not be stored is not stored', () => {
    expect(value(['Cache-Control: no-cache="c"', 'C: 1'], 'c')).toEqual([]);
  });

  test('a 304 updates tags and the values for Vary', () => {
    expect(after(['Vary: Foo', 'Cache-Tag: new'], 'Foo: 1')).toMatchObject({
      vary: [['foo', '1']],
      tags: ['new'],
    });
  });

  test.each(['Cache-Control: no-store', 'Vary: *'])(
    'after a 304 with %s the answer may no longer be stored',
    (line) => {
      const { status, lines } = after([line]);
      expect(mayStore(asked(), { status, lines }, times, SHARED)).toMatchObject({ store: false });
    },
  );
});

describe('RFC 9111 section 4.3.5: an answer to HEAD', () => {
  const get = stored(['ETag: "a"', MODIFIED]);
  const verdict = (fields: readonly string[], length?: number, status = 200) =>
    verdictOfHead(get, { status, lines: linesFrom(...fields), length });

  test.each([
    [['ETag: "a"', MODIFIED], 10, 'freshened'],
    [['ETag: "a"'], undefined, 'freshened'],
    [[], 10, 'freshened'],
    [['ETag: "b"'], 10, 'outdated'],
    [['ETag: "a"', `Last-Modified: ${date(-8)}`], 10, 'outdated'],
    [['ETag: "a"'], 11, 'outdated'],
  ])(
    'an answer to HEAD with %j and %s octets makes the stored answer %s',
    (fields, length, expected) => {
      expect(verdict(fields, length)).toBe(expected);
    },
  );

  test('an error answer to HEAD does not change the stored answer', () => {
    expect(verdict([], 10, 404)).toBe('nothing');
  });
});
