import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { queryDigest } from './query-digest.ts';
import { raw } from './rules.fixture.ts';

const CONTENT = Buffer.from('$.a');
const TYPE = 'Content-Type: application/jsonpath';
const digest = (content: Buffer, ...fields: string[]) => queryDigest(content, raw(...fields));
const PLAIN = digest(CONTENT, TYPE);

describe('RFC 10008 section 2.7: the content and what describes it are the key', () => {
  test.each([
    ['content', digest(Buffer.from('$.b'), TYPE)],
    ['type', digest(CONTENT, 'Content-Type: text/plain')],
    ['no type', digest(CONTENT)],
    ['two types', digest(CONTENT, TYPE, TYPE)],
    ['parameter', digest(CONTENT, `${TYPE};a=b`)],
    ['unknown coding', digest(CONTENT, TYPE, 'Content-Encoding: x')],
    ['wrong coding', digest(CONTENT, TYPE, 'Content-Encoding: gzip')],
    ['language', digest(CONTENT, TYPE, 'Content-Language: en')],
    ['location', digest(CONTENT, TYPE, 'Content-Location: /q')],
    ['no-transform', digest(CONTENT, TYPE, 'Cache-Control: no-transform')],
  ])('another %s gives another key', (_, other) => {
    expect(other).not.toBe(PLAIN);
  });

  test('fields outside the digest do not change the key of a QUERY', () => {
    expect(digest(CONTENT, TYPE, 'Accept: a/b', 'Content-Length: 3')).toBe(PLAIN);
  });

  test("different values of a QUERY's fields never give the same key", () => {
    const one = digest(CONTENT, TYPE, 'Content-Language: a', 'Content-Location: b');
    expect(one).not.toBe(digest(CONTENT, TYPE, 'Content-Language: a","b'));
    expect(digest(Buffer.from('b'), 'Content-Type: a')).not.toBe(digest(Buffer.from('ab')));
  });

  test('RFC 9110 section 8.3.1: case and white space of the media type do not change the key', () => {
    const spaced = digest(CONTENT, 'Content-Type: Application/JSONPath ; Charset=a;B="c D"');
    expect(spaced).toBe(digest(CONTENT, `${TYPE};charset=a; b="c D"`));
    expect(spaced).not.toBe(digest(CONTENT, `${TYPE};charset=a; b="c d"`));
    expect(spaced).not.toBe(digest(CONTENT, `${TYPE};charset=a; b="c  D"`));
    const quoted = (value: string) => digest(CONTENT, `${TYPE}; a="${value}"`);
    expect(quoted('b; C=d')).not.toBe(quoted('b;c=d'));
    expect(quoted('\\"; C=d')).not.toBe(quoted('\\";c=d'));
  });
});

describe('RFC 10008 section 2.7: content codings are removed for the key', () => {
  test.each([
    ['gzip', gzipSync(CONTENT)],
    ['X-GZip', gzipSync(CONTENT, { level: 0 })],
    ['deflate', deflateSync(CONTENT)],
    ['br', brotliCompressSync(CONTENT)],
    ['gzip, br', brotliCompressSync(gzipSync(CONTENT))],
  ])('the coding %s is removed for the key', (codings, content) => {
    expect(digest(content, TYPE, `Content-Encoding: ${codings}`)).toBe(PLAIN);
  });

  test.each([
    ['gzip', Buffer.concat([gzipSync(CONTENT), Buffer.from('more')])],
    ['gzip', Buffer.concat([gzipSync(CONTENT.subarray(0, 1)), gzipSync(CONTENT.subarray(1))])],
    ['gzip', Buffer.concat([gzipSync(''), gzipSync(CONTENT)])],
    ['deflate', Buffer.concat([deflateSync(CONTENT), Buffer.from('more')])],
    ['br', Buffer.concat([brotliCompressSync(CONTENT), Buffer.from('more')])],
    ['gzip', gzipSync(CONTENT).subarray(0, -1)],
    ['br, gzip', brotliCompressSync(gzipSync(CONTENT))],
    ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(CONTENT)))],
  ])('content that is not a single valid member of %s keeps its coding', (codings, content) => {
    expect(digest(content, TYPE, `Content-Encoding: ${codings}`)).not.toBe(PLAIN);
  });

  test('content that expands to more than a mebibyte keeps its coding', () => {
    const long = Buffer.alloc(1_048_577);
    const coded = gzipSync(long);
    expect(digest(coded, 'Content-Encoding: gzip')).not.toBe(digest(long));
    const fits = long.subarray(1);
    expect(digest(gzipSync(fits), 'Content-Encoding: gzip')).toBe(digest(fits));
  });

  test('RFC 9111 section 5.2.1.6: content keeps its coding if the client says no-transform', () => {
    const literal = 'Cache-Control: No-Transform';
    expect(digest(gzipSync(CONTENT), TYPE, 'Content-Encoding: gzip', literal)).not.toBe(
      digest(CONTENT, TYPE, literal),
    );
  });
});
