import { describe, expect, test } from '@jest/globals';
import { secretPaths } from './request-log.ts';

const written = secretPaths(['/push/', '/Other/']);

describe('the log has only the beginning of a secret path', () => {
  test.each([
    '/push/message/SECRET',
    '/%70ush/message/SECRET',
    '/p%2575sh/message/SECRET',
    '/push%2fmessage%2FSECRET',
    '//push//message/SECRET',
    '/PUSH/message/SECRET',
    '/x/../push/SECRET',
    '/x/%2e%2E/push/SECRET',
    '/push;x=/SECRET',
    '\\push\\SECRET',
  ])('the log has only the beginning of %s', (path) => {
    expect(written(path)).toBe('/push/');
  });

  test('several secret paths are all shortened', () => {
    expect(written('/other/SECRET')).toBe('/Other/');
  });
});

test.each(['/', '', '*', '/pushed/x', '/a/push/x', '/%', '/%FF', '/%c3%bc', 'http://[', '/push'])(
  '%s is logged unchanged',
  (path) => {
    expect(written(path)).toBe(path);
    expect(secretPaths([])(path)).toBe(path);
  },
);
