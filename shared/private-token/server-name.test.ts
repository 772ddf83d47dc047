import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { canonicalServerName, isServerName, originOfServer, serverNameOf } from './server-name.ts';

describe('RFC 9577 section 2.1.1.1: server names', () => {
  test.each([
    ['https://issuer.example', 'issuer.example'],
    ['https://issuer.example:8443', 'issuer.example:8443'],
    ['https://ISSUER.example:443', 'issuer.example'],
    ['https://localhost:3444', 'localhost:3444'],
    ['https://[::1]:3444', '[::1]:3444'],
    ['http://origin.example', 'origin.example:80'],
    ['http://origin.example:443', 'origin.example:443'],
    ['http://localhost:3001', 'localhost:3001'],
  ])('the name of %s is %s', (origin, name) => expect(serverNameOf(origin)).toBe(name));

  test.each([
    'issuer.example',
    'issuer.example:8443',
    'xn--bcher-kva.example',
    '127.0.0.1',
    '[::1]',
  ])('%s is a server name, and leads to an https origin', (name) => {
    expect(isServerName(name)).toBe(true);
    expect(serverNameOf(originOfServer(name))).toBe(name);
  });

  test.each([
    ['Issuer.EXAMPLE', 'issuer.example'],
    ['issuer.example:443', 'issuer.example'],
    ['Issuer.Example:8443', 'issuer.example:8443'],
    ['[2001:DB8::1]:443', '[2001:db8::1]'],
  ])('%s is another spelling of %s', (text, name) => {
    expect(canonicalServerName(text)).toBe(name);
    expect(isServerName(text)).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['userinfo', 'issuer@example.com'],
    ['a scheme', 'https://issuer.example'],
    ['a path', 'issuer.example/'],
    ['a query', 'issuer.example?'],
    ['a fragment', 'issuer.example#'],
    ['a comma, which separates names', 'a.example,b.example'],
    ['a space', ' issuer.example'],
    ['a tab, which URLs lose', 'issuer\t.example'],
    ['a line feed at the end', 'issuer.example\n'],
    ['a backslash', String.raw`issuer.example\a`],
    ['an escape', 'issuer%2eexample'],
    ['letters beyond US-ASCII', 'bücher.example'],
    ['a letter that becomes k in lower case', '\u212Aing.example'],
    ['no port behind the colon', 'issuer.example:'],
    ['a port with a zero in front', 'issuer.example:0443'],
    ['a port beyond 65535', 'issuer.example:65536'],
    ['two ports', 'issuer.example:1:2'],
    ['an address in another notation', '127.1'],
    ['an address as one number', '2130706433'],
    ['an address that is not compressed', '[0:0:0:0:0:0:0:1]'],
    ['half an address', '[::1'],
  ])('refuses %s', (_, text) => expect(canonicalServerName(text)).toBeUndefined());

  test('each server name names exactly one https origin', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'B', '1', '.', '-', ':', '[', ']', '@', '4'),
    });
    fc.assert(
      fc.property(fc.oneof(text, anyText(), fc.webAuthority()), (given) => {
        const name = canonicalServerName(given);
        if (name === undefined) return;
        expect(canonicalServerName(name)).toBe(name);
        expect(new URL(originOfServer(given)).origin).toBe(originOfServer(name));
      }),
      { numRuns: 1000 },
    );
  });
});
