import { describe, expect, test } from '@jest/globals';
import { type Conditions, evaluatePreconditions } from './preconditions.ts';

const NOW = Date.UTC(2026, 10, 20);
const MODIFIED = Date.UTC(2026, 10, 19, 12);
const BEFORE = new Date(MODIFIED - 1000).toUTCString();
const SAME = new Date(MODIFIED).toUTCString();
const AFTER = new Date(MODIFIED + 1000).toUTCString();
const current = { etag: { weak: false, opaque: 'a' }, modified: MODIFIED + 999 };

const on = (conditions: Conditions, selected: typeof current | undefined = current) =>
  evaluatePreconditions(conditions, selected, NOW);

describe('RFC 9110 section 13.1.1: If-Match', () => {
  test.each([
    ['"a"', 'proceed'],
    ['"b", "a"', 'proceed'],
    [', "b" ,, "a",', 'proceed'],
    ['*', 'proceed'],
    ['"b"', 412],
    ['W/"a"', 412],
    ['', 412],
    ['"b, \\"a"', 412],
    ['a', 412],
    ['*, "a"', 412],
    ['*, *', 412],
    ['"a", b', 412],
    ['"a" "b"', 412],
    ['"a', 412],
  ])('%s', (ifMatch, result) => {
    expect(on({ method: 'PUT', ifMatch })).toBe(result);
  });

  test.each(['*', '"a"'])('If-Match: %s fails if the target has no representation', (ifMatch) => {
    expect(evaluatePreconditions({ method: 'PUT', ifMatch }, undefined, NOW)).toBe(412);
  });

  test('a weak tag of the representation never matches If-Match', () => {
    const weak = { ...current, etag: { weak: true, opaque: 'a' } };
    expect(on({ method: 'PUT', ifMatch: 'W/"a"' }, weak)).toBe(412);
  });
});

describe('RFC 9110 section 13.1.2: If-None-Match', () => {
  test.each([
    ['GET', '"a"', 304],
    ['HEAD', 'W/"a"', 304],
    ['GET', '"b", W/"a"', 304],
    ['GET', '*', 304],
    ['QUERY', 'W/"a"', 304],
    ['QUERY', '"b"', 'proceed'],
    ['PUT', '*', 412],
    ['PUT', '"a"', 412],
    ['DELETE', 'W/"a"', 412],
    ['GET', '"b"', 'proceed'],
    ['PUT', '"b"', 'proceed'],
    ['GET', 'a', 'proceed'],
    ['PUT', 'JoplinIgnore-1', 'proceed'],
    ['PUT', 'b, "a"', 412],
    ['GET', '"a" b, "c"', 304],
    ['GET', 'x"a"', 'proceed'],
    ['GET', '"b, "c', 'proceed'],
    ['PUT', '*, *', 412],
    ['PUT', '"b", *', 412],
  ])('%s %s', (method, ifNoneMatch, result) => {
    expect(on({ method, ifNoneMatch })).toBe(result);
  });

  test('If-None-Match: * allows a resource to be created', () => {
    expect(evaluatePreconditions({ method: 'PUT', ifNoneMatch: '*' }, undefined, NOW)).toBe(
      'proceed',
    );
  });
});

describe('RFC 9110 sections 13.1.3 and 13.1.4: dates', () => {
  test.each([
    ['GET', BEFORE, 'proceed'],
    ['GET', SAME, 304],
    ['HEAD', AFTER, 304],
    ['QUERY', SAME, 304],
    ['QUERY', BEFORE, 'proceed'],
    ['GET', 'Thursday, 19-Nov-26 12:00:00 GMT', 304],
    ['PUT', AFTER, 'proceed'],
    ['GET', 'yesterday', 'proceed'],
    ['GET', `${AFTER}, ${AFTER}`, 'proceed'],
  ])('If-Modified-Since: %s %s', (method, ifModifiedSince, result) => {
    expect(on({ method, ifModifiedSince })).toBe(result);
  });

  test.each([
    [BEFORE, 412],
    [SAME, 'proceed'],
    [AFTER, 'proceed'],
    ['yesterday', 'proceed'],
  ])('If-Unmodified-Since: %s', (ifUnmodifiedSince, result) => {
    expect(on({ method: 'PUT', ifUnmodifiedSince })).toBe(result);
  });

  test('dates are ignored if no modification date is known', () => {
    const dated = { method: 'GET', ifModifiedSince: AFTER, ifUnmodifiedSince: BEFORE };
    expect(evaluatePreconditions(dated, { etag: current.etag }, NOW)).toBe('proceed');
    expect(evaluatePreconditions(dated, undefined, NOW)).toBe('proceed');
  });
});

describe('RFC 9110 section 13.2: precedence', () => {
  test.each<[string, Conditions, 'proceed' | 304 | 412]>([
    [
      'If-Match before If-Unmodified-Since',
      { method: 'PUT', ifMatch: '"a"', ifUnmodifiedSince: BEFORE },
      'proceed',
    ],
    [
      'If-None-Match before If-Modified-Since',
      { method: 'GET', ifNoneMatch: '"b"', ifModifiedSince: AFTER },
      'proceed',
    ],
    ['If-Match before If-None-Match', { method: 'GET', ifMatch: '"b"', ifNoneMatch: '"a"' }, 412],
    ['If-None-Match after If-Match', { method: 'GET', ifMatch: '"a"', ifNoneMatch: '"a"' }, 304],
    [
      'If-Unmodified-Since before If-None-Match',
      { method: 'GET', ifUnmodifiedSince: BEFORE, ifNoneMatch: '"a"' },
      412,
    ],
    ['no condition', { method: 'PUT' }, 'proceed'],
  ])('%s', (_, conditions, result) => {
    expect(on(conditions)).toBe(result);
  });

  test.each(['OPTIONS', 'TRACE', 'CONNECT'])('section 13.2.1: %s ignores conditions', (method) => {
    expect(on({ method, ifMatch: '"b"', ifNoneMatch: 'malformed' })).toBe('proceed');
  });
});
