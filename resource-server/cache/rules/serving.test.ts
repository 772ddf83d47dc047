import { describe, expect, test } from '@jest/globals';
import { date, raw, stored } from './rules.fixture.ts';
import { serve } from './serving.ts';

const ANSWER = [
  'ETag: "a"',
  `Last-Modified: ${date(-60)}`,
  `Date: ${date(0)}`,
  'Content-Type: text/plain',
  'Content-Digest: sha-256=:AA==:',
  'Vary: foo',
  'Cache-Control: max-age=60',
  'X-Other: 1',
  'Age: 3',
];

const served = (request: readonly string[], fields = ANSWER, over = {}, method = 'GET') =>
  serve(stored(fields, over), { method, rawHeaders: raw(...request) }, 7);
const status = (...request: string[]) => served(request).status;
const named = (lines: readonly (readonly [string, string])[], name: string) =>
  lines.filter(([sent]) => sent === name).map(([, value]) => value);

test('RFC 9111 section 4: a stored answer is sent with an Age that replaces the Age it came with', () => {
  const { lines, content } = served([]);
  expect([named(lines, 'Age'), content]).toEqual([['7'], 'whole']);
});

test("the client whose request fetched an answer gets the application's Age", () => {
  const { lines } = serve(stored(ANSWER), { method: 'GET', rawHeaders: [] }, undefined);
  expect(named(lines, 'Age')).toEqual(['3']);
});

describe('RFC 9111 section 4.3.2: conditions of the client', () => {
  test.each([
    ['If-None-Match: "a"', 304],
    ['If-None-Match: W/"a"', 304],
    ['If-None-Match: "x", "a", "y"', 304],
    ['If-None-Match: *', 304],
    ['If-None-Match: "x"', 200],
    ['If-None-Match: a', 200],
    [`If-Modified-Since: ${date(-60)}`, 304],
    [`If-Modified-Since: ${date(5)}`, 304],
    [`If-Modified-Since: ${date(-61)}`, 200],
    ['If-Modified-Since: yesterday', 200],
    ['If-Match: "x"', 200],
  ])('a request with %s is answered %s', (condition, expected) => {
    expect(status(condition)).toBe(expected);
  });

  test('RFC 9110 section 13.2.2: If-None-Match takes precedence over If-Modified-Since', () => {
    expect(status('If-None-Match: "x"', `If-Modified-Since: ${date(0)}`)).toBe(200);
    expect(status('If-None-Match: "x"', 'If-None-Match: "a"')).toBe(304);
  });

  test('a weak entity tag of the application matches If-None-Match', () => {
    expect(served(['If-None-Match: "a"'], ['ETag: W/"a"']).status).toBe(304);
  });

  test.each([
    ['"a"', 200],
    ['""', 200],
    ['*', 304],
  ])(
    'if the stored answer has no entity tag, If-None-Match: %s is answered %s',
    (tag, expected) => {
      const request = [`If-None-Match: ${tag}`, `If-Modified-Since: ${date(0)}`];
      expect(served(request, [`Date: ${date(0)}`]).status).toBe(expected);
    },
  );

  test('without Last-Modified, If-Modified-Since is compared with Date or the arrival', () => {
    const since = (seconds: number) => [`If-Modified-Since: ${date(seconds)}`];
    expect(served(since(-30), [`Date: ${date(-30)}`]).status).toBe(304);
    expect(served(since(-31), [`Date: ${date(-30)}`]).status).toBe(200);
    expect([served(since(0), []).status, served(since(-1), []).status]).toEqual([304, 200]);
  });

  test('conditions are ignored if the stored answer is not a 200', () => {
    expect(served(['If-None-Match: "a"'], ANSWER, { status: 404 }).status).toBe(404);
  });

  test.each(['HEAD', 'QUERY'])('If-None-Match applies to %s, too', (method) => {
    expect(served(['If-None-Match: "a"'], ANSWER, {}, method).status).toBe(304);
  });

  test('RFC 9110 section 15.4.5: a 304 has the required fields, and none that describe the content', () => {
    const { lines, content } = served(['If-None-Match: "a"']);
    expect(content).toBe('none');
    expect(lines.map(([name]) => name)).toEqual([
      'ETag',
      'Date',
      'Vary',
      'Cache-Control',
      'X-Other',
      'Age',
    ]);
    const dated = served([`If-Modified-Since: ${date(0)}`], [`Last-Modified: ${date(-9)}`]).lines;
    expect(dated.map(([name]) => name)).toContain('Last-Modified');
  });
});

describe('RFC 9110 section 14.2: ranges of a whole answer', () => {
  test.each([
    ['bytes=0-1', { first: 0, last: 1 }, 'bytes 0-1/10'],
    ['bytes=1-', { first: 1, last: 9 }, 'bytes 1-9/10'],
    ['bytes=-1', { first: 9, last: 9 }, 'bytes 9-9/10'],
  ])('the range %s is answered with 206', (range, part, told) => {
    const { status: code, lines, content } = served([`Range: ${range}`]);
    expect([code, content, named(lines, 'Content-Range')]).toEqual([206, [part], [told]]);
    expect(named(lines, 'Content-Type')).toEqual(['text/plain']);
    expect(named(lines, 'Content-Digest')).toEqual([]);
  });

  test('several ranges are answered without the Content-Type of the whole', () => {
    const { status: code, lines, content } = served(['Range: bytes=0-1,5-6']);
    expect([code, content]).toEqual([
      206,
      [
        { first: 0, last: 1 },
        { first: 5, last: 6 },
      ],
    ]);
    expect([named(lines, 'Content-Type'), named(lines, 'Content-Range')]).toEqual([[], []]);
  });

  test('RFC 9110 section 15.5.17: a range beyond the end is answered 416', () => {
    expect(served(['Range: bytes=10-'])).toEqual({
      status: 416,
      lines: [['Content-Range', 'bytes */10']],
      content: 'none',
    });
  });

  test.each([
    [['Range: lines=1-2']],
    [['Range: bytes=2-1']],
    [['Range: bytes=0-1', 'Range: bytes=2-3']],
    [['Range: bytes=0-1', 'If-Range: "x"']],
    [['Range: bytes=0-1', 'If-Range: W/"a"']],
    [['Range: bytes=0-1', `If-Range: ${date(-61)}`]],
    [['Range: bytes=0-1', 'If-Range: "a"', 'If-Range: "x"']],
    [['If-Range: "a"']],
  ])('%j gets the whole content', (request) => {
    expect(served(request)).toMatchObject({ status: 200, content: 'whole' });
  });

  test.each([[{ length: undefined }], [{ length: 0 }], [{ status: 404 }]])(
    'an answer with %j is never sent as a range',
    (over) => {
      expect(served(['Range: bytes=0-1'], ANSWER, over).content).toBe('whole');
    },
  );

  test('HEAD with a range is answered 200', () => {
    expect(served(['Range: bytes=0-1'], ANSWER, {}, 'HEAD').status).toBe(200);
  });

  test('a condition is evaluated before a range', () => {
    expect(status('Range: bytes=0-1', 'If-None-Match: "a"')).toBe(304);
  });

  test.each([
    ['"a"', 206],
    [date(-60), 206],
  ])('RFC 9110 section 13.1.5: a matching If-Range %s gets the range', (condition, expected) => {
    expect(status('Range: bytes=0-1', `If-Range: ${condition}`)).toBe(expected);
  });

  test('RFC 9110 section 8.8.2.2: a Last-Modified date is weak if Date is the same second or missing', () => {
    const request = ['Range: bytes=0-1', `If-Range: ${date(0)}`];
    const modified = `Last-Modified: ${date(0)}`;
    expect(served(request, [modified, `Date: ${date(0)}`]).status).toBe(200);
    expect(served(request, [modified, `Date: ${date(1)}`]).status).toBe(206);
    expect(served(request, [modified]).status).toBe(200);
  });
});
