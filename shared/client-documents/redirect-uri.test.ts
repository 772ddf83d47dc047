import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUri } from '#shared/http/any-uri.fixture.ts';
import { redirectUriMistake } from './redirect-uri.ts';

describe('accepted redirect URIs', () => {
  test.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example:8443/a%20b?x=y',
    'http://localhost:8080/',
    'http://127.0.0.1/cb',
    'http://[::1]:3000/cb',
  ])('a web application may have %s', (uri) =>
    expect(redirectUriMistake(uri, false)).toBeUndefined(),
  );

  test.each([
    'https://app.example/callback',
    'http://127.0.0.1/cb',
    'http://localhost/cb',
    'com.example.app:/callback',
    'com.example.app://callback',
  ])('a native application may have %s', (uri) =>
    expect(redirectUriMistake(uri, true)).toBeUndefined(),
  );
});

describe('refused redirect URIs', () => {
  test.each([
    ['RFC 6749 section 3.1.2: relative', '/callback', /absolute/],
    ['nothing', '', /absolute/],
    ['RFC 6749 section 3.1.2: a fragment', 'https://app.example/#x', /fragment/],
    ['an empty fragment', 'https://app.example/#', /fragment/],
    ['a user', 'https://app.example@evil.example/', /user/],
    ['a user and password', 'https://a:b@app.example/', /user/],
    ['http elsewhere', 'http://app.example/cb', /must be https/],
    ['a host that begins like a loopback', 'http://localhost.evil.example/', /must be https/],
    ['a loopback address of another network', 'http://127.0.0.2/', /must be https/],
    ['another spelling of a loopback address', 'http://0x7f.1/cb', /normal form, http:\/\/127/],
    ['a host in capitals', 'https://APP.example/cb', /normal form, https:\/\/app.example\/cb/],
    ['the default port', 'https://app.example:443/cb', /normal form/],
    ['dot segments', 'https://app.example/a/../cb', /normal form/],
    ['backslashes', String.raw`https:\\app.example\cb`, /normal form/],
    ['a missing slash', 'https:app.example/cb', /normal form/],
    ['a space at the end', 'https://app.example/cb ', /normal form/],
    ['a line end', 'https://app.example/\ncb', /normal form/],
    ['characters beyond ASCII', 'https://app.example/ü', /normal form/],
    ['script', 'javascript:alert(1)', /must be https/],
    ['data', 'data:text/html,x', /must be https/],
    ['a file', 'file:///etc/passwd', /must be https/],
    ['a scheme of its own', 'com.example.app:/cb', /--native/],
  ])('a redirect URI is refused: %s', (_, uri, message) =>
    expect(redirectUriMistake(uri, false)?.message).toMatch(message),
  );

  test.each([
    ['RFC 8252 section 7.1: a scheme without a dot', 'myapp:/cb'],
    ['script', 'javascript:alert(1)'],
    ['a scheme in capitals', 'COM.example.app:/cb'],
    ['https at a loopback address', 'https://localhost/cb'],
    ['http elsewhere', 'http://app.example/cb'],
  ])('a redirect URI of a native application is refused: %s', (_, uri) => {
    expect(redirectUriMistake(uri, true)).toBeDefined();
  });
});

test('an accepted URI is absolute, in its normal form, and may get a code', () => {
  const uri = fc.oneof(
    anyUri,
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('https:', 'http:', 'a.b:', 'javascript:', 'x:', ''),
        fc.constantFrom('//', '/', '', '///', '\\\\'),
        fc.constantFrom('localhost', '127.0.0.1', '[::1]', 'a.example', 'u@a.example', ''),
        fc.constantFrom('', '/', ':80', ':443/', '/#', '?#', '/\t', '/x'),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(uri, fc.boolean(), (text, native) => {
      if (redirectUriMistake(text, native) !== undefined) return;
      const { protocol, href, hash, username, password, hostname } = new URL(text);
      expect([text, `${text}/`]).toContain(href);
      expect([hash, username, password]).toEqual(['', '', '']);
      expect(text).not.toMatch(/[#\s]/);
      if (protocol === 'http:') expect(['localhost', '127.0.0.1', '[::1]']).toContain(hostname);
      else if (protocol !== 'https:')
        expect([native, protocol.includes('.')]).toEqual([true, true]);
    }),
    { numRuns: 3000 },
  );
});
