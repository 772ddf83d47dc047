import { describe, expect, test } from '@jest/globals';
import { boldestName, boldestReading } from './readings.ts';

describe('what an application might find in a path', () => {
  test.each([
    ['/app/a', ['app', 'a']],
    ['/app/a%2Fb', ['app', 'a', 'b']],
    ['/app/a%252Fb', ['app', 'a', 'b']],
    ['/app//a/', ['app', 'a']],
    ['/app/a%5Cb\\c', ['app', 'a', 'b', 'c']],
    ['/app;x=1/a;y', ['app', 'a']],
    ['/app/%E4%BD%A0', ['app', '你']],
    ['/app/a?/../b', ['app', 'a']],
    ['http://localhost/app/a', ['app', 'a']],
    ['/app/100%', ['app', '100%']],
    ['/app/admin./a%20', ['app', 'admin', 'a']],
    ['/app/%ef%bd%81dmin', ['app', 'admin']],
    ['/app%ef%bc%8fadmin', ['app', 'admin']],
  ])('%s', (target, expected) => {
    expect(boldestReading(target)).toEqual(expected);
  });

  test.each([
    '/app/%ef%bc%8e%ef%bc%8e/b',
    '/app/.. /b',
    '/app/..%20/b',
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
    '/app/%2e%2e%3b/b',
    '/app/a%00b',
    '/app/a%2500',
  ])('%s: none that is safe', (target) => {
    expect(boldestReading(target)).toBeUndefined();
  });

  // Read anew from each of them it would take twenty minutes.
  test.each(['.', ' ', '%20', '. '])('a name of a million of %j is read once', (piece) => {
    const name = `a${piece.repeat(1_000_000)}b`;
    expect(boldestName(name)).toBe(name);
    expect(boldestReading(`/app/${name}`)).toEqual(['app', name.replaceAll('%20', ' ')]);
  });
});
