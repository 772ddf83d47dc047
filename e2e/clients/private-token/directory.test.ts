import { describe, expect, test } from '@jest/globals';
import { preferredKey, readDirectory } from './directory.ts';

const URL_OF_IT = 'https://issuer.example/.well-known/private-token-issuer-directory';
const read = (document: unknown) => readDirectory(Buffer.from(JSON.stringify(document)), URL_OF_IT);

/** The example of RFC 9578 section 4, with keys of random octets. */
const EXAMPLE = {
  'issuer-request-uri': 'https://issuer.example/request',
  'token-keys': [
    { 'token-type': 2, 'token-key': 'AQ==', 'not-before': 1_686_913_811 },
    { 'token-type': 0xda7a, 'token-key': 'AwMD' },
    { 'token-type': 2, 'token-key': 'AgI=' },
  ],
};

describe('the issuer directory (RFC 9578 section 4)', () => {
  test('the first key that has started is preferred', () => {
    const directory = read(EXAMPLE);
    expect(preferredKey(directory, 2, 1_686_913_811)).toEqual(Buffer.of(1));
    expect(preferredKey(directory, 2, 1_686_913_810)).toEqual(Buffer.of(2, 2));
    expect(() => preferredKey(directory, 1, 1_686_913_811)).toThrow('no key of type 1');
  });

  test.each([
    ['https://issuer.example/request', 'https://issuer.example/request'],
    ['/private-token/request', 'https://issuer.example/private-token/request'],
    ['request?a=b', 'https://issuer.example/.well-known/request?a=b'],
  ])('%s is the URL for token requests', (uri, url) => {
    expect(read({ ...EXAMPLE, 'issuer-request-uri': uri }).requestUrl.href).toBe(url);
  });

  test.each([
    ['null', null],
    ['a list', [EXAMPLE]],
    ['no request URL', { 'token-keys': [] }],
    ['an invalid request URL', { ...EXAMPLE, 'issuer-request-uri': 'https://' }],
    ['no list of keys', { ...EXAMPLE, 'token-keys': {} }],
    ['a key that is text', { ...EXAMPLE, 'token-keys': ['AQ=='] }],
    ['a key without padding', withKey({ 'token-type': 2, 'token-key': 'AQ' })],
    ['a key in base64', withKey({ 'token-type': 2, 'token-key': '++++' })],
    ['a type that is text', withKey({ 'token-type': '2', 'token-key': 'AQ==' })],
    ['a time that is text', withKey({ 'token-type': 2, 'token-key': 'AQ==', 'not-before': '0' })],
  ])('%s is refused', (_what, document) => {
    expect(() => read(document)).toThrow();
  });
});

function withKey(key: object) {
  return { ...EXAMPLE, 'token-keys': [key] };
}
