import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyUrl } from '#shared/http/any-uri.fixture.ts';
import { clientOrigins } from './client-origins.ts';

const originsOf = (...redirect_uris: string[]) => [...clientOrigins({ redirect_uris })];

test('a client that names nothing has none', () => {
  expect([...clientOrigins({})]).toEqual([]);
  expect([...clientOrigins({ origins: [], redirect_uris: [] })]).toEqual([]);
});

test('the origins of a client are those it names and those of its redirect URIs, each once', () => {
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

test('RFC 6454 section 6.2: in the spelling that a browser sends', () => {
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
])('%j gives no origin, least of all the null that sandboxed pages send', (uri) => {
  expect(originsOf(uri)).toEqual([]);
  expect([...clientOrigins({ origins: [uri] })]).toEqual([]);
});

test('whatever is registered: http and https origins and nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), anyUrl)), (uris) =>
      originsOf(...uris).every((origin) => /^https?:$/.test(new URL(origin).protocol)),
    ),
  );
  fc.assert(fc.property(anyUrl, (uri) => originsOf(uri)[0] === new URL(uri).origin));
});
