import { describe, expect, test } from '@jest/globals';
import { PathMap } from './paths.ts';

describe('a space and its application stand at paths of their own', () => {
  test.each([
    ['/app/', '/', '/app/a?b', '/a?b'],
    ['/app/', '/', '/app', '/'],
    ['/app/', '/', '/app?x=/y', '/?x=/y'],
    ['/app', '/base/', '/app/a/', '/base/a/'],
    ['/app/', '/base', '/app/', '/base/'],
    ['/mcp', '/mcp', '/mcp', '/mcp'],
    ['/mcp', '/mcp', '/mcp?x=1', '/mcp?x=1'],
    ['/mcp', '/mcp', '/mcp/', '/mcp/'],
    ['/mcp/', '/server', '/mcp', '/server'],
    ['/mcp', '/', '/mcp', '/'],
    ['/', '/', '/a/b', '/a/b'],
    ['/', '/base/', '/', '/base/'],
    ['/a/b/', '/c/', '/a/b/c%2Fd//e', '/c/c%2Fd//e'],
    ['/app/', '/base/', '/%61pp/x', '/base/x'],
    ['/app/', '/base/', 'http://localhost:3001/app/x?y', '/base/x?y'],
    ['/', '/', 'http://localhost:3001', '/'],
    ['/', '/', 'http://localhost:3001?x', '/?x'],
  ])('with %s in front of %s, %s is mapped to %s', (ours, theirs, target, expected) => {
    expect(new PathMap(ours, theirs, false).onward(target)).toBe(expected);
  });

  test.each([
    ['/app/', '/', '/login?next=/', '/app/login?next=/'],
    ['/app/', '/base/', '/base/a#b', '/app/a#b'],
    ['/app/', '/base/', '/base', '/app'],
    ['/app/', '/base/', '/basement', undefined],
    ['/app/', '/base/', '/', undefined],
    ['/', '/base/', '/base', '/'],
    ['/', '/base/', '/base?x', '/?x'],
  ])(
    'with %s in front of %s, %s in an answer is mapped back to %s',
    (ours, theirs, path, expected) => {
      expect(new PathMap(ours, theirs, false).back(path)).toBe(expected);
    },
  );

  test.each([
    ['/app/', '/', '/', '/app/'],
    ['/app/', '/', '/a', '/app/a'],
    ['/app/', '/base/', '/base', '/app'],
    ['/app/', '/base/', '/base/x', '/app/x'],
    ['/app/', '/base/', '/', '/app/'],
    ['/app/', '/base/', '/other', '/other'],
    ['/app/', '/base/', '/bas', '/bas'],
  ])('with %s in front of %s, a cookie for %s gets the path %s', (ours, theirs, path, expected) => {
    expect(new PathMap(ours, theirs, false).cookiePath(path)).toBe(expected);
  });
});

describe('an application that gets the prefix may write it itself', () => {
  test.each([
    ['/app/', '/', '/login', '/app/login'],
    ['/app/', '/', '/app/login?x', '/app/login?x'],
    ['/app/', '/', '/app', '/app'],
    ['/app/', '/', '/application', '/app/application'],
    ['/app/', '/base/', '/base/app/x', '/app/app/x'],
    ['/', '/', '/x', '/x'],
  ])(
    'with %s in front of %s, %s in an answer is mapped back to %s, once',
    (ours, theirs, path, expected) => {
      const map = new PathMap(ours, theirs, true);
      expect(map.back(path)).toBe(expected);
      expect(map.cookiePath(path.replace(/\?.*/, ''))).toBe(expected.replace(/\?.*/, ''));
      expect(map.prefix).toBe(theirs === '/' ? ours.slice(0, -1) : '');
    },
  );
});
