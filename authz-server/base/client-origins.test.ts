import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUrl } from '#shared/http/any-uri.fixture.ts';
import { clientOrigins } from './client-origins.ts';

const originsOf = (...redirect_uris: string[]) => [...clientOrigins({ redirect_uris })];

test('a client that names no origin and no redirect URI has no origins', () => {
  expect([...clientOrigins({})]).toEqual([]);
  expect([...clientOrigins({ origins: [], redirect_uris: [] })]).toEqual([]);
});

test('the origins of a client are the origins that it names and those of its redirect URIs, each once', () => {
  const client = {
    origins: ['https://app.example', 'https://admin.example:8443'],
    redirect_uris: ['https://app.example/callback', 'http://localhost:5000/cb?x=y'],
  };
  expect([...clientOrigins(client)]).toEqual([
    'https://app.example',
    'https://admin.example:8443',
    'http://localhost:5000',
  ]);
});

test('RFC 6454 section 6.2: an origin is written as a browser sends it', () => {
  expect(originsOf('HTTPS://App.Example:443/cb', 'https://b%C3%BCcher.example/')).toEqual([
    'https://app.example',
    'https://xn--bcher-kva.example',
  ]);
});

test.each([
  'com.example.app:/callback',
  'file:///etc/passwd',
  'data:text/html,x',
  'blob:https://app.example/1',
  'urn:ietf:wg:oauth:2.0:oob',
  'null',
  '*',
  '',
  'https://',
  '//app.example/cb',
])('the URI %j gives no origin, and never the null that sandboxed pages send', (uri) => {
  expect(originsOf(uri)).toEqual([]);
  expect([...clientOrigins({ origins: [uri] })]).toEqual([]);
});

test('any registered URIs give only http and https origins', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), anyUrl)), (uris) =>
      originsOf(...uris).every((origin) => /^https?:$/.test(new URL(origin).protocol)),
    ),
  );
  fc.assert(fc.property(anyUrl, (uri) => originsOf(uri)[0] === new URL(uri).origin));
});
