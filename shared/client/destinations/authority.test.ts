import { isIPv4, isIPv6 } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { authorityOf, parseAuthority } from './authority.ts';

describe('RFC 9110 section 9.3.6: host and port', () => {
  test.each([
    ['example.com:443', { host: 'example.com', port: 443 }],
    ['EXAMPLE.com.:1', { host: 'example.com', port: 1 }],
    ['localhost.:65535', { host: 'localhost', port: 65_535 }],
    ['192.0.2.1:80', { host: '192.0.2.1', port: 80 }],
    ['[2001:DB8::1]:80', { host: '2001:db8::1', port: 80 }],
    ['[::ffff:127.0.0.1]:80', { host: '::ffff:127.0.0.1', port: 80 }],
    ['xn--bcher-kva.example:80', { host: 'xn--bcher-kva.example', port: 80 }],
    ['a_b.example:080', { host: 'a_b.example', port: 80 }],
  ])('%s is read as an authority', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });

  test.each([
    'example.com',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:+80',
    'example.com:80:80',
    'example.com:8o',
    ':80',
    '.:80',
    '..:80',
    'a..b:80',
    '-a.example:80',
    'a-.example:80',
    `${'a'.repeat(64)}.example:80`,
    `${'a.'.repeat(127)}aa:80`,
    'alice@example.com:80',
    'alice:secret@example.com:80',
    '::1:80',
    '[::1]',
    '[::1:80',
    '[127.0.0.1]:80',
    '[fe80::1%25lo]:80',
    '[fe80::1%lo]:80',
    'ex ample.com:80',
    'example.com/:80',
    'example.com:80/',
    'example.com:80\r\nHost: a',
    'ex%61mple.com:80',
    'b\u00fccher.example:80',
    '\u2460.example:80',
    'example\u3002com:80',
  ])('%j is refused', (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });

  test.each([
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '127.0.0.01',
    '127.0.0.256',
    '1.2.3.4.5',
    'a.1',
    'a.0x',
    '0x',
    '0X7F000001',
  ])('a number that is not an address in four decimal parts is refused: %s', (host) => {
    expect(parseAuthority(`${host}:80`)).toBeUndefined();
  });

  test('an accepted authority has only one reading', () => {
    const piece = fc.constantFrom(...'aA0x.:[]-_@%1 fe7'.split(''), '127', '::1', '.com', ':80');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const parsed = parseAuthority(pieces.join(''), 80);
        if (parsed === undefined) return;
        const { host, port } = parsed;
        expect(port).toBeGreaterThan(0);
        expect(port).toBeLessThan(65_536);
        // The WHATWG URL parser reads the same host, so no host is a disguised address.
        const shown = isIPv6(host) ? `[${host}]` : host;
        const { hostname } = new URL(`http://${shown}/`);
        expect(isIPv4(hostname)).toBe(isIPv4(host));
        if (!isIPv6(host)) expect(hostname).toBe(host);
      }),
      { numRuns: 3000 },
    );
  });
});

test.each([
  ['https://Example.com/', 'example.com', 443],
  ['http://example.com./a', 'example.com', 80],
  ['https://[2001:DB8::1]:8443/', '2001:db8::1', 8443],
  ['http://0x7f.1:80/', '127.0.0.1', 80],
])('%s leads to %s at port %d', (url, host, port) => {
  expect(authorityOf(new URL(url))).toEqual({ host, port });
});
