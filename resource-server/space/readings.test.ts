import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readingsOf } from './readings.ts';

describe('the paths that an application may read in a path', () => {
  test.each([
    ['/app/a', ['/app/a/']],
    ['/', ['/']],
    ['/app/a%2Fb', ['/app/a/b/']],
    ['/app/a%252Fb', ['/app/a/b/']],
    ['/App/Ä%C3%A4/', ['/app/aa/']],
    ['/app/a%5Cb\\c', ['/app/a/b/c/']],
    ['/app;x=1/a;y', ['/app;x=1/a;y/', '/app/a/']],
    ['/;%2fa/b', ['/;/a/b/', '/b/', '/a/b/', '/']],
    ['/;\\a/b', ['/;/a/b/', '/b/', '/a/b/', '/']],
    ['/app/%E4%BD%A0', ['/app/你/']],
    ['/app/a?/../b', ['/app/a/']],
    ['/app/a%3Fb/c', ['/app/a?b/c/', '/app/a/']],
    ['http://localhost/app/a', ['/app/a/']],
    ['/app/admin./a%20/+b+', ['/app/admin/a/b/']],
    ['/app/%ef%bd%81dmin', ['/app/admin/']],
    ['/app%ef%bc%8fadmin', ['/app/admin/']],
    ['/app%e2%81%84admin', ['/app/admin/']],
    ['/app%e2%88%95admin', ['/app/admin/']],
    ['/app%e2%88%96admin', ['/app/admin/']],
    ['/app%e2%a7%b5admin', ['/app/admin/']],
    ['/app%e2%a7%b8admin', ['/app/admin/']],
    ['/app%e2%a7%b9admin', ['/app/admin/']],
    ['/app//host/a//b/', ['/app/host/a/b/', '/app/a/b/']],
    [
      '/a.php/b/c.php',
      ['/a.php/b/c.php/', '/a.php/b/c/', '/a/b/c.php/', '/a/b/c/', '/b/c.php/', '/b/c/'],
    ],
    ['/(A(x)s(y))/a/(F(z))b', ['/(a(x)s(y))/a/(f(z))b/', '/a/b/', '/ab/']],
    ['/a.b.json/', ['/a.b.json/', '/a.b/']],
    ['/.a', ['/.a/']],
  ])('the path %s has the expected readings', (target, expected) => {
    const { paths = [], unclear } = readingsOf(target.replaceAll('Ä', '%C3%84')) ?? {};
    expect(new Set(paths)).toEqual(new Set(expected));
    expect(unclear).toBe(false);
  });

  test.each([
    ['/app/100%', '/app/100%/'],
    ['/%25252541', '/%41/'],
    ['/%u0061', '/%u0061/'],
    ['/a%0a', '/a\n/'],
    ['/a::$DATA', '/a::$data/'],
    ['/a~1', '/a~1/'],
  ])('the path %s has a part that only the application can interpret', (target, expected) => {
    expect(readingsOf(target)).toEqual({ paths: [expected], unclear: true });
  });

  test.each(['/%E9t%E9', '/%c0%af', '/%ed%a0%80', '/%25E9'])(
    'the path %s is not UTF-8',
    (target) => {
      expect(readingsOf(target)?.unclear).toBe(true);
    },
  );

  test.each([
    '/app/%ef%bc%8e%ef%bc%8e/b',
    '/app/.. /b',
    '/app/..%20/b',
    '/app/%20../b',
    '/app/..+/b',
    '/app/.../b',
    '/app/../b',
    '/app/..',
    '/app/./b',
    '/app/%2e%2e/b',
    '/app/%252e%252e/b',
    '/app/%25252e%25252e/b',
    '/app/..%2fb',
    '/app/..%5cb',
    '/app/..;/b',
    '/app/..;x=y/b',
    '/app/..;%2fx/b',
    '/app/%2e%2e%3b/b',
    '/app/..%3fb',
    '/app/a%00b',
    '/app/a%2500',
    '/;/a%3b/b%253b%2fc/d%25253b/e;%5cf%3b%252fg',
  ])('the path %s has no safe reading', (target) => {
    expect(readingsOf(target)).toBeUndefined();
  });

  test('any path has few readings, each from slash to slash', () => {
    const piece = fc.constantFrom(
      '/',
      ';',
      '%3b',
      '%253b',
      '%2f',
      '%252f',
      '\\',
      '%5c',
      '%3f',
      '.',
      '%',
      'a',
      '%C3%A9',
      ':$',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const { paths = [] } = readingsOf(`/${pieces.join('')}`) ?? {};
        expect(paths.length).toBeLessThanOrEqual(64);
        for (const path of paths) expect(path).toMatch(/^\/(?:[^/\\]+\/)*$/);
      }),
      { numRuns: 2000 },
    );
  });
});

// A pattern that starts again at each position of a name would take quadratic time.
test.each([
  '.',
  ' ',
  '%20',
  '. ',
  ';',
  ';/',
  ';a%2f;b%252f',
  '/',
  '//a',
  '\\',
  '%5c',
  '%',
  '%25',
  '%2525',
  '%3f',
  '#',
  ':$',
  'a.php/',
  'a.php',
  '~1',
  '/a~1',
  '%E2%80%8B',
  '%CC%81%CC%96',
  'a%CC%81%CC%96',
  '%EF%B7%BA',
  '%e9',
])('reading a path of %j takes CPU time linear in its length', (piece) => {
  const [short = '', long = ''] = [2496, 79_872].map((length) =>
    `/a${piece.repeat(length / piece.length)}b`.slice(0, length),
  );
  const cost = (target: string) => {
    const before = process.cpuUsage();
    readingsOf(target);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  // The least time of several rounds, since other work of the machine can only add to it. A busy machine still takes
  // several times as long as an idle one. So the limit is between 32, the ratio of the lengths, and its square.
  const least = (target: string, rounds: number) =>
    Math.min(...Array.from({ length: rounds }, () => cost(target)));
  expect(least(long, 10) / Math.max(least(short, 30), 1)).toBeLessThanOrEqual(128);
});
