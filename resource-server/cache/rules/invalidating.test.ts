import { describe, expect, test } from '@jest/globals';
import { changedBy, invalidatedBy, isUnsafe } from './invalidating.ts';
import { groupOf } from '#shared/http/spelling.ts';
import { asked, linesFrom, raw } from './rules.fixture.ts';

const HERE = 'https://here.example';
const invalidated = (
  method: string,
  {
    status = 200,
    fields = [],
    request = [],
    target = '/a?b',
  }: {
    status?: number;
    fields?: readonly string[];
    request?: readonly string[];
    target?: string;
  } = {},
) =>
  invalidatedBy(
    asked({ method, target, rawHeaders: raw(...request) }),
    { status, lines: linesFrom(...fields) },
    HERE,
  ).map(({ kind, value }) => `${kind} ${value}`);

describe('RFC 9111 section 4.4: invalidation', () => {
  test.each(['POST', 'PUT', 'PATCH', 'M-SEARCH', 'UNLOCK', 'anything'])(
    '%s invalidates its target',
    (method) => {
      expect(invalidated(method)).toEqual(['target /a?b']);
      expect(invalidated(method, { status: 303 })).toEqual(['target /a?b']);
    },
  );

  test.each(['GET', 'HEAD', 'QUERY', 'OPTIONS', 'PROPFIND', 'REPORT', 'SEARCH'])(
    '%s is safe and invalidates nothing',
    (method) => {
      expect([isUnsafe(method), invalidated(method)]).toEqual([false, []]);
      expect(changedBy(asked({ method }), HERE)).toEqual([]);
    },
  );

  test.each([400, 404, 412, 500, 503, 101])(
    'an answer with status %s invalidates nothing',
    (status) => {
      expect(invalidated('PUT', { status, fields: ['Location: /x'] })).toEqual([]);
    },
  );

  test.each([
    ['/x', ['target /x']],
    ['x?y#z', ['target /x?y']],
    ['?c', ['target /a?c']],
    [`${HERE}/x`, ['target /x']],
    ['//here.example/x', ['target /x']],
    ['https://there.example/x', []],
    ['http://here.example/x', []],
    ['https://here.example:8443/x', []],
    ['//there.example/x', []],
    ['https://[', []],
    ['javascript:alert(1)', []],
    ['/a?b', []],
  ])('Location or Content-Location %s also invalidates %j', (reference, more) => {
    const expected = ['target /a?b', ...more];
    expect(invalidated('POST', { fields: [`Location: ${reference}`] })).toEqual(expected);
    expect(invalidated('PUT', { fields: [`Content-Location: ${reference}`] })).toEqual(expected);
  });
});

describe('RFC 4918: collections', () => {
  test.each([
    ['DELETE', 'section 9.6.1', ['tree /a']],
    ['MOVE', 'section 9.9.2', ['tree /a', 'tree /c']],
    ['COPY', 'section 9.8.3', ['tree /c']],
    ['MKCOL', 'section 9.3', []],
  ])('paths below a collection that %s invalidates by %s', (method, _, trees) => {
    const request = ['Destination: https://here.example/%63?d'];
    expect(invalidated(method, { request })).toEqual(['target /a?b', ...trees]);
  });

  test('COPY without a Destination invalidates only its target', () => {
    expect(invalidated('COPY')).toEqual(['target /a?b']);
  });

  test('COPY to another origin invalidates only its target', () => {
    const request = ['Destination: https://there.example/c'];
    expect(invalidated('COPY', { request })).toEqual(['target /a?b']);
  });

  test('a MOVE without an answer invalidates all that it could have changed', () => {
    const request = asked({ method: 'MOVE', rawHeaders: raw('Destination: /c') });
    expect(changedBy(request, HERE)).toEqual([
      { kind: 'target', value: '/a' },
      { kind: 'tree', value: '/a' },
      { kind: 'tree', value: '/c' },
    ]);
  });
});

describe('RFC 3986 section 6.2.2: spellings of a target', () => {
  test.each([
    ['/a%2fb', '/a%2Fb'],
    ['/%61%7E?%62', '/a~?b'],
    ['/a/./b/../c', '/a/c'],
    ['/a/%2e%2E/c', '/c'],
    ['//a/b', '//a/b'],
    ['/a"b', '/a%22b'],
    ['/a%zz', '/a%zz'],
    ['/?', '/'],
  ])('%s is normalized to %s', (target, group) => {
    expect([groupOf(target), groupOf(group)]).toEqual([group, group]);
  });

  test.each([
    ['/a', '/A'],
    ['/a%2Fb', '/a/b'],
    ['/a', '/a/'],
    ['/a?b', '/a?c'],
    ['/a%3Fb', '/a?b'],
    ['/%2561', '/a'],
  ])('%s and %s are different targets', (one, other) => {
    expect(groupOf(one)).not.toBe(groupOf(other));
  });
});
