import { describe, expect, test } from '@jest/globals';
import { isLoopback, isOfMachine, namesMachine } from './loopback.js';

describe('isLoopback', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost'])('%s is loopback', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  test.each(
    [
      ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', '127.1', 'localhost.evil.example'],
      ['::ffff:127.0.0.1', '', 'LOCALHOST.', 'app.localhost'],
    ].flat(),
  )('%j is not loopback', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});

test('RFC 6761 section 6.3: names below localhost lead to the same machine; an absent host does not', () => {
  expect(['localhost.', 'app.localhost', 'a.b.localhost.', '127.0.0.1.'].every(isOfMachine)).toBe(
    true,
  );
  expect(['', undefined, 'evillocalhost', 'localhost.example'].some(isOfMachine)).toBe(false);
});

describe('DNS rebinding: which Host and :authority name this machine (RFC 9110 section 7.2)', () => {
  test.each(
    [
      ['localhost', 'LocalHost:8080', 'localhost:', 'localhost.', 'localhost.:8080', 'x.localhost'],
      ['127.0.0.1', '127.0.0.1:3000', '127.255.255.254', '[::1]', '[::1]:3000'],
    ].flat(),
  )('%j names this machine', (authority) => {
    expect(namesMachine(authority)).toBe(true);
  });

  test.each(
    [
      ['evil.example', 'localhost.evil.example', 'evillocalhost', '127.0.0.1.evil.example:80'],
      ['evil#x.localhost', 'evil?x.localhost', 'evil/x.localhost', 'evil\\x.localhost'],
      ['evil@localhost', 'localhost:80@evil', 'evil:80#.localhost', 'evil,x.localhost'],
      ['evil x.localhost', 'evil\tx.localhost', 'evil\0x.localhost', 'evil%2f.localhost'],
      ['localhost\n', '\nlocalhost', 'localhost:80:80', 'localhost:x', 'localhost..', ':80', ''],
      ['::1', '[::1', '::1]', '[::1].', '[::2]', '[::ffff:7f00:1]', '[::1%25lo]', '127.1', '0'],
      ['127.0.0.256', '128.0.0.1', '0.0.0.0', '192.0.2.9:3000', 'ⓛocalhost', 'localhoſt'],
    ].flat(),
  )('%j does not name this machine', (authority) => {
    expect(namesMachine(authority)).toBe(false);
  });
});
