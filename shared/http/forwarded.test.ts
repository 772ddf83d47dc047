import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { clientAddress, customerOf, forwardedScheme, siteOf, trustedProxies } from './forwarded.ts';

const trusted = trustedProxies(['10.0.0.0/8', '127.0.0.1/32', '2001:db8::/32']);

describe('the address of the client behind trusted proxies', () => {
  test.each<[string, string[], string]>([
    ['203.0.113.7', [], '203.0.113.7'],
    ['10.0.0.1', [], '10.0.0.1'],
    ['10.0.0.1', ['203.0.113.7'], '203.0.113.7'],
    ['10.0.0.1', ['203.0.113.7, 10.0.0.2'], '203.0.113.7'],
    ['10.0.0.1', ['203.0.113.7', ' 10.0.0.2 '], '203.0.113.7'],
    ['::ffff:10.0.0.1', ['203.0.113.7'], '203.0.113.7'],
    ['::ffff:a00:1', ['::FFFF:203.0.113.7'], '203.0.113.7'],
    ['2001:db8::1', ['2001:0DB9:0:0::1'], '2001:db9::1'],
    ['10.0.0.1', ['10.0.0.3, 10.0.0.2'], '10.0.0.3'],
  ])('from the peer %s with %j the client is %s', (peer, lines, client) => {
    expect(clientAddress(peer, lines, trusted)).toBe(client);
  });

  test.each<[string, string, string[], string]>([
    ['from a peer that is not trusted', '203.0.113.7', ['10.0.0.1, 198.51.100.1'], '203.0.113.7'],
    [
      'left of the first address that is not trusted',
      '10.0.0.1',
      ['198.51.100.1, 203.0.113.7'],
      '203.0.113.7',
    ],
    ['on a line of its own', '10.0.0.1', ['198.51.100.1', '203.0.113.7'], '203.0.113.7'],
    ['behind something malformed', '10.0.0.1', ['198.51.100.1, unknown, 10.0.0.2'], '10.0.0.2'],
    ['behind an empty entry', '10.0.0.1', ['198.51.100.1,'], '10.0.0.1'],
    ['behind a zone', '10.0.0.1', ['198.51.100.1, fe80::1%eth0'], '10.0.0.1'],
    ['in octal', '10.0.0.1', ['010.0.0.2, 0203.0.113.7'], '10.0.0.1'],
  ])("the client's address cannot be forged %s", (_, peer, lines, client) => {
    expect(clientAddress(peer, lines, trusted)).toBe(client);
  });

  test('fields of a client never change those that its proxy adds', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('10.0.0.9', ',', ''),
    );
    fc.assert(
      fc.property(fc.array(anything), fc.array(anything), (lines, entries) => {
        const appended = [...lines, [...entries, '203.0.113.7'].join(', ')];
        expect(clientAddress('10.0.0.1', appended, trusted)).toBe('203.0.113.7');
      }),
    );
  });

  test('without trusted proxies the field is not read', () => {
    expect(clientAddress('127.0.0.1', ['203.0.113.7'], trustedProxies([]))).toBe('127.0.0.1');
  });
});

test.each([
  '10.0.0.256',
  '10.0.0.1/',
  '10.0.0.0/33',
  '::/129',
  'a/8',
  '/8',
  '10.0.0.0/',
  '10.0.0.0/-1',
  'fe80::%1/8',
])('%j is refused as an address or network', (cidr) => {
  expect(() => trustedProxies([cidr])).toThrow(TypeError);
});

test.each(['', 'a', '10.0.0.1.', '11.0.0.1', '::1'])('%j is not trusted', (address) => {
  expect(trusted.has(address)).toBe(false);
});

test('an address alone is trusted in any spelling, and its neighbours are not', () => {
  const alone = trustedProxies(['192.0.2.7', '2001:DB8:0::7']);
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::7']) {
    expect(alone.has(address)).toBe(true);
  }
  for (const address of ['192.0.2.6', '192.0.2.8', '2001:db8::8', '::7', '0.0.0.0']) {
    expect(alone.has(address)).toBe(false);
  }
});

describe('addresses that limits count as one customer', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['', ''],
  ])('the customer of %j is %j', (address, customer) => {
    expect(customerOf(address)).toBe(customer);
  });

  test('all IPv6 addresses of a 64-bit network, and no others, are one customer', () => {
    // The groups begin at 1, since addresses in ::ffff:0:0/96 are IPv4 addresses.
    const group = fc.integer({ min: 1, max: 0xffff }).map((value) => value.toString(16));
    const half = fc.tuple(group, group, group, group).map((groups) => groups.join(':'));
    fc.assert(
      fc.property(half, half, half, (network, host, other) => {
        const of = (text: string) => customerOf(clientAddress(text, [], trusted));
        expect(of(`${network}:${host}`)).toBe(of(`${network}:${other}`));
        fc.pre(network !== host);
        expect(of(`${network}:${other}`)).not.toBe(of(`${host}:${other}`));
      }),
    );
  });

  test('RFC 6177 section 2: one site is an IPv6 network of 48 bits', () => {
    expect(['192.0.2.1', '2001:db8:1:2:3:4:5:6', '2001:db8::1', ''].map(siteOf)).toEqual([
      '192.0.2.1',
      '2001:db8:1::/48',
      '2001:db8:0::/48',
      '',
    ]);
  });
});

test.each<[string | string[] | undefined, 'http' | 'https' | undefined]>([
  ['http', 'http'],
  ['HTTPS', 'https'],
  ['ws', 'http'],
  ['Wss', 'https'],
  ['ftp', undefined],
  ['https, http', undefined],
  [' https', undefined],
  ['constructor', undefined],
  ['', undefined],
  [['https'], undefined],
  [undefined, undefined],
])('X-Forwarded-Proto %j is %s (RFC 6455 section 3: WebSockets are HTTP)', (value, scheme) => {
  expect(forwardedScheme(value)).toBe(scheme);
});
