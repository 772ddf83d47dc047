import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUrl } from '#shared/http/any-uri.fixture.ts';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { cspSource } from './csp-source.ts';

describe('CSP source of a picture (CSP Level 3 section 2.3.1)', () => {
  test.each([
    ['https://app.example/callback?x=1', 'https://app.example/callback'],
    ['https://app.example:8443/', 'https://app.example:8443/'],
    ['https://app.example:443/', 'https://app.example/'],
    ['http://localhost:51234/cb', 'http://localhost:51234/cb'],
    ['http://127.0.0.1:51234/cb', 'http://127.0.0.1:51234/cb'],
    ['http://[::1]:51234/cb', 'http:'],
    ['https://[2001:db8::1]/cb', 'https:'],
    ['com.example.app:/callback', 'com.example.app:'],
    ['https://user:secret@app.example/', 'https://app.example/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://app.example/a;script-src,*', 'https://app.example/a%3Bscript-src%2C*'],
  ])('the CSP source of %s is %s', (uri, source) => {
    expect(cspSource(uri)).toBe(source);
  });

  test.each([
    "https://a;script-src'unsafe-inline'.example/",
    'https://a,b.example/',
    'https://*.example/',
    'https://*/',
    "https://'self'/",
    'not a URI',
    '',
    '/relative',
    'https://',
  ])('%s has no CSP source', (uri) => {
    expect(cspSource(uri)).toBeUndefined();
  });

  test('any address gives at most one source', () => {
    const host = fc.string({
      unit: fc.constantFrom(...`ab.-_1;,'"*() \n\r\t[]:@%$!&+=~`.split('')),
    });
    const anyUri = fc.oneof(
      anyText(),
      anyUrl,
      fc.tuple(fc.constantFrom('http://', 'https://', 'a.b:', 'ws://', "x;'"), host).map(String),
      host.map((name) => `https://${name}/`),
    );
    fc.assert(
      fc.property(anyUri, (uri) => {
        const source = cspSource(uri) ?? 'https:';
        expect(source).toMatch(
          /^(?:https?:\/\/[a-z0-9._-]+(?::\d+)?\/[^;,\s]*|[a-z][a-z0-9+.-]*:)$/,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
