import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { HttpError } from '#shared/http/answer.ts';
import { startResourceServer } from '../resource-server.fixture.ts';
import { parseRanges, type Range, rangesAsked } from '../../answers/range.ts';

const LENGTH = 10_000;
const part = (first: number, last: number): Range => ({ first, last });

describe('RFC 9110 section 14.1.2: byte ranges', () => {
  test.each([
    ['bytes=0-499', [part(0, 499)]],
    ['bytes=500-999', [part(500, 999)]],
    ['bytes=-500', [part(9500, 9999)]],
    ['bytes=9500-', [part(9500, 9999)]],
    ['bytes=0-0,-1', [part(0, 0), part(9999, 9999)]],
    ['bytes= 0-999, 4500-5499, -1000', [part(0, 999), part(4500, 5499), part(9000, 9999)]],
    ['bytes=500-600,601-999', [part(500, 999)]],
    ['bytes=500-700,601-999', [part(500, 999)]],
    ['Bytes=,0-1,', [part(0, 1)]],
    ['bytes=9999-99999999999999999999999', [part(9999, 9999)]],
    ['bytes=-99999999999999999999999', [part(0, 9999)]],
    [`bytes=0-${'9'.repeat(400)}`, [part(0, 9999)]],
    ['bytes=10000-, 5-5', [part(5, 5)]],
    ['bytes=10000-', []],
    ['bytes=-0', []],
    [`bytes=${'9'.repeat(400)}-`, []],
  ])('the byte ranges in %s are parsed', (value, ranges) => {
    expect(parseRanges(value, LENGTH)).toEqual(ranges);
  });

  test.each([
    '',
    'bytes',
    'bytes=',
    'bytes=,',
    'bytes=5',
    'bytes=-',
    'bytes=--5',
    'bytes=5-4',
    'bytes=0-1,5-4',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes=+1-2',
    'bytes=1 -2',
    'bytes=0-1;2-3',
    'bytes=0-1 2-3',
    'items=0-1',
    'bytes 0-1/2',
    'bytes=0-1\n',
  ])('the Range value %j is ignored (section 14.2)', (value) => {
    expect(parseRanges(value, LENGTH)).toBeUndefined();
  });

  test('section 15.3.7.2: overlapping or adjacent ranges are merged, in the position of the first', () => {
    expect(parseRanges('bytes=50-59,0-9,55-70,5-5,71-80', LENGTH)).toEqual([
      part(50, 80),
      part(0, 9),
    ]);
    expect(parseRanges('bytes=0-1,3-4,2-2', LENGTH)).toEqual([part(0, 4)]);
  });

  test('section 17.15: a request for too many parts gets the whole content', () => {
    const many = (count: number) =>
      `bytes=${Array.from({ length: count }, (_, at) => `${at * 2}-${at * 2}`).join(',')}`;
    expect(parseRanges(many(32), LENGTH)).toHaveLength(32);
    expect(parseRanges(many(33), LENGTH)).toBeUndefined();
    expect(parseRanges(`bytes=${'0-,'.repeat(5000)}`, LENGTH)).toBeUndefined();
  });

  test('any set of ranges gives separate parts within the content, with the requested octets', () => {
    const spec = fc.oneof(
      fc.tuple(fc.nat(60), fc.nat(60)).map(([from, more]) => `${from}-${from + more}`),
      fc.nat(60).map((from) => `${from}-`),
      fc.nat(60).map((suffix) => `-${suffix}`),
    );
    fc.assert(
      fc.property(
        fc.array(spec, { minLength: 1, maxLength: 32 }),
        fc.integer({ min: 1, max: 50 }),
        (specs, length) => {
          const bytes = new Set<number>();
          for (const one of specs) {
            const [from = '', to = ''] = one.split('-');
            const first = from === '' ? Math.max(length - Number(to), 0) : Number(from);
            const last = from === '' || to === '' ? length - 1 : Number(to);
            for (let at = first; at <= Math.min(last, length - 1); at += 1) bytes.add(at);
          }
          const ranges = parseRanges(`bytes=${specs.join(', ')}`, length) ?? [];
          const found = ranges.flatMap(({ first, last }) =>
            Array.from({ length: last - first + 1 }, (_, index) => first + index),
          );
          expect(found.toSorted((a, b) => a - b)).toEqual([...bytes].toSorted((a, b) => a - b));
          for (const { first, last } of ranges) {
            expect(
              ranges.filter((other) => other.first <= last + 1 && first <= other.last + 1),
            ).toHaveLength(1);
          }
        },
      ),
    );
  });

  test('any text is read as ranges or ignored', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (text, length) => {
        for (const value of [text, `bytes=${text}`]) {
          for (const { first, last } of parseRanges(value, length) ?? []) {
            expect(0 <= first && first <= last && last < length).toBe(true);
          }
        }
      }),
    );
  });
});

describe('the ranges that a request gets', () => {
  const current = { etag: 'a', length: 10 };
  const ask = (fields: Record<string, string>, whole = current) =>
    rangesAsked({ rawHeaders: Object.entries(fields).flat() }, whole);

  test('section 15.5.17: an unsatisfiable range is 416 with the length', () => {
    expect.assertions(2);
    try {
      ask({ Range: 'bytes=10-' });
    } catch (error) {
      expect(error).toBeInstanceOf(HttpError);
      expect(error).toMatchObject({ status: 416, fields: { 'Content-Range': 'bytes */10' } });
    }
  });

  test('a request without Range, or for empty content, gets the whole content', () => {
    expect(ask({})).toEqual([]);
    expect(ask({ 'If-Range': '"a"' })).toEqual([]);
    for (const range of ['bytes=0-', 'bytes=5-', 'bytes=-5']) {
      expect(ask({ Range: range }, { ...current, length: 0 })).toEqual([]);
    }
  });

  test.each([
    ['"a"', true],
    ['W/"a"', false],
    ['"b"', false],
    ['"a", "b"', false],
    ['*', false],
    ['a', false],
    ['', false],
    ['Fri, 20 Nov 2026 08:00:00 GMT', false],
  ])('section 13.1.5: If-Range %j holds: %p', (condition, holds) => {
    const ranges = ask({ Range: 'bytes=0-1', 'If-Range': condition });
    expect(ranges).toEqual(holds ? [part(0, 1)] : []);
  });

  test('section 8.8.2.2: a date is not a strong validator, so that no answer mixes two versions', async () => {
    await using rs = await startResourceServer();
    const put = (body: string) => rs.as('PUT', '/documents/a', { body });
    const get = (headers = {}) => rs.as('GET', '/documents/a', { headers });
    await put('aaaa');
    const first = await get();
    await put('bbbb');
    rs.clock.advance(60);
    const second = await get();
    const date = first.headers['last-modified'];
    expect(second.headers['last-modified']).toBe(date);
    const rest = (validator: unknown) => get({ Range: 'bytes=2-', 'If-Range': validator });
    expect(await rest(date)).toMatchObject({ status: 200, text: 'bbbb' });
    expect(await rest(first.headers.etag)).toMatchObject({ status: 200, text: 'bbbb' });
    expect(await rest(second.headers.etag)).toMatchObject({ status: 206, text: 'bb' });
  });

  test('section 13.1.5: a failed condition hides an unsatisfiable range', () => {
    expect(ask({ Range: 'bytes=10-', 'If-Range': '"b"' })).toEqual([]);
  });

  test('section 5.3: a repeated Range is malformed', () => {
    const twice = ['Range', 'bytes=0-1', 'Range', 'bytes=2-3'];
    expect(() => rangesAsked({ rawHeaders: twice }, current)).toThrow('once only');
  });
});
