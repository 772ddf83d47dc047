import { describe, expect, test } from '@jest/globals';
import { createDestinations, parseRule } from './destinations.ts';

const SELF = [
  { address: '127.0.0.1', port: 3001 },
  { address: '0.0.0.0', port: 4001 },
  { address: '::', port: 5001 },
];

/** Returns whether a client that asked for this host and port may be connected to this address. */
function may(entries: readonly string[], host: string, port: number, address = host): boolean {
  return createDestinations(entries, () => SELF).concerning({ host, port })?.(address) ?? false;
}

test('without entries no destination can be reached', () => {
  expect(may([], '1.1.1.1', 80)).toBe(false);
});

describe('public:PORT', () => {
  test.each(['1.1.1.1', '2606:4700::1111'])('public:PORT allows %s', (address) => {
    expect(may(['public:443'], 'any.example', 443, address)).toBe(true);
  });

  test('public:PORT allows only its port', () => {
    expect(may(['public:443'], 'any.example', 80, '1.1.1.1')).toBe(false);
  });

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd00:ec2::254', '::ffff:1.1.1.1', '::1'])(
    'public:PORT does not allow %s',
    (address) => {
      expect(may(['public:443'], 'any.example', 443, address)).toBe(false);
    },
  );
});

describe('a name', () => {
  test.each([
    ['api.example:443', 'api.example', true],
    ['API.example.:443', 'api.example', true],
    ['api.example:443', 'api.example.evil', false],
    ['api.example:443', 'xapi.example', false],
    ['*.example:443', 'a.example', true],
    ['*.example:443', 'a.b.example', true],
    ['*.example:443', 'example', false],
    ['*.example:443', 'evilexample', false],
    ['*.example:443', 'a.example.evil', false],
  ])('the entry %s for the name %s: %j', (entry, host, expected) => {
    expect(may([entry], host, 443, '1.1.1.1')).toBe(expected);
  });

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.1'])(
    'a name does not allow %s: its DNS server must not choose among internal addresses',
    (address) => {
      expect(may(['api.example:443', '*.example:443'], 'api.example', 443, address)).toBe(false);
    },
  );
});

describe('an address or a network', () => {
  test.each([
    ['127.0.0.1:8080', '127.0.0.1', true],
    ['127.0.0.1:8080', '127.0.0.2', false],
    ['10.0.0.0/8:8080', '10.255.0.1', true],
    ['10.0.0.0/8:8080', '11.0.0.1', false],
    ['10.0.0.0/8:8080', '::ffff:10.0.0.1', false],
    ['0.0.0.0/0:8080', '::ffff:10.0.0.1', false],
    ['[::1]:8080', '::1', true],
    ['[::1]:8080', '0:0:0:0:0:0:0:1', true],
    ['[::1]:8080', '::2', false],
    ['[fd00::/8]:8080', 'fdff::1', true],
    ['[fd00::/8]:8080', 'fe00::1', false],
    ['[::ffff:10.0.0.1]:8080', '::ffff:10.0.0.1', true],
    ['[::/0]:8080', '127.0.0.1', false],
  ])('the entry %s for the address %s: %j, whatever the name', (entry, address, expected) => {
    expect(may([entry], 'any.example', 8080, address)).toBe(expected);
    expect(may([entry], 'any.example', 8081, address)).toBe(false);
  });
});

describe('self', () => {
  test.each([
    [3001, '127.0.0.1', true],
    [3001, '127.0.0.2', false],
    [3001, '::1', false],
    [3000, '127.0.0.1', false],
    [4001, '127.0.0.1', true],
    [4001, '10.0.0.1', false],
    [5001, '::1', true],
    [5001, '::', false],
    [4001, '0.0.0.0', false],
  ])('self for port %i at %s: %j, whatever the name', (port, address, expected) => {
    expect(may(['self'], 'rs.example', port, address)).toBe(expected);
  });
});

test('a name is not looked up if no entry concerns it', () => {
  const destinations = createDestinations(['public:443', 'a.example:80', 'self'], () => SELF);
  const asked = (host: string, port: number) => destinations.concerning({ host, port });
  expect(asked('b.example', 80)).toBeUndefined();
  expect(asked('a.example', 25)).toBeUndefined();
  expect(asked('b.example', 443)).toBeDefined();
  expect(asked('b.example', 3001)).toBeDefined();
});

describe('an invalid entry is refused at start', () => {
  test.each([
    'self',
    'public',
    'public:',
    'public:0',
    'public:65536',
    'a.example',
    '*:80',
    '*.*.example:80',
    'a.*.example:80',
    '*example:80',
    '127.1:80',
    '127.0.0.1/33:80',
    '127.0.0.1/:80',
    '127.0.0.1/8/8:80',
    '127.0.0.1/-1:80',
    '[::1/129]:80',
    '[127.0.0.1]:80',
    '[::1%lo]:80',
    '::1:80',
    'http://a.example:80',
    'a.example/8:80',
    ':80',
    '',
  ])('the entry %j is refused', (entry) => {
    expect(() => parseRule(entry)).toThrow(TypeError);
  });
});
