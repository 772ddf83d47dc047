import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyPath, anyUrl } from '#shared/http/any-uri.fixture.ts';
import { encodePadded } from './base64url.ts';
import {
  DIRECTORY_PATH,
  type DirectoryKey,
  formatDirectory,
  type IssuerDirectory,
  parseDirectory,
} from './issuer-directory.ts';
import { tokenKeyId } from './token-key.ts';
import { BLIND_RSA, VOPRF } from './token-types.ts';
import type1 from './vectors/rfc9578-type1-go.json' with { type: 'json' };
import type2 from './vectors/rfc9578-type2-go.json' with { type: 'json' };

const hex = (text = '') => Buffer.from(text, 'hex');

const ISSUER = 'https://issuer.example:3444';
const URL_OF_DIRECTORY = `${ISSUER}${DIRECTORY_PATH}`;
const POINT = hex(type1[0]?.pkS);
const SPKI = hex(type2[0]?.pkS);
const voprf: DirectoryKey = { type: VOPRF, publicKey: POINT, id: tokenKeyId(POINT) };
const blindRsa: DirectoryKey = { type: BLIND_RSA, publicKey: SPKI, id: tokenKeyId(SPKI) };
const DIRECTORY: IssuerDirectory = {
  requestUrl: `${ISSUER}/private-token/request`,
  keys: [{ ...blindRsa, notBefore: 1_686_913_811 }, voprf],
};
const DOCUMENT = {
  'issuer-request-uri': '/private-token/request',
  'token-keys': [
    { 'token-type': 2, 'token-key': encodePadded(SPKI), 'not-before': 1_686_913_811 },
    { 'token-type': 1, 'token-key': encodePadded(POINT) },
  ],
};

const parse = (document: unknown) => parseDirectory(document, URL_OF_DIRECTORY);
const keysOf = (...entries: readonly unknown[]) =>
  parse({ ...DOCUMENT, 'token-keys': entries }).keys;
const requestUrlOf = (uri: unknown) => parse({ ...DOCUMENT, 'issuer-request-uri': uri }).requestUrl;
const [RSA_ENTRY, VOPRF_ENTRY] = DOCUMENT['token-keys'];

describe('RFC 9578 section 4: the directory that this issuer publishes', () => {
  test('the directory has the members of the RFC, in an order that never changes', () => {
    expect(formatDirectory(DIRECTORY)).toBe(
      `{"issuer-request-uri":"${ISSUER}/private-token/request","token-keys":[` +
        `{"token-type":2,"token-key":"${encodePadded(SPKI)}","not-before":1686913811},` +
        `{"token-type":1,"token-key":"${encodePadded(POINT)}"}]}`,
    );
  });

  test("the directory does not depend on the order of a key's members", () => {
    const keys = DIRECTORY.keys.map(({ notBefore, id, publicKey, type }) => ({
      ...(notBefore !== undefined && { notBefore }),
      id,
      publicKey,
      type,
    }));
    expect(formatDirectory({ ...DIRECTORY, keys })).toBe(formatDirectory(DIRECTORY));
  });

  test('the directory contains only the public part of a key', () => {
    const pair = { ...voprf, privateKey: Buffer.alloc(48, 7) };
    expect(formatDirectory({ ...DIRECTORY, keys: [pair] })).toBe(
      formatDirectory({ ...DIRECTORY, keys: [voprf] }),
    );
  });

  test('the directory can be read again', () => {
    expect(parse(JSON.parse(formatDirectory(DIRECTORY)))).toEqual(DIRECTORY);
  });
});

describe('RFC 9578 section 4: the directory of an issuer', () => {
  test("keys stay in the issuer's order of preference", () => {
    expect(parse(DOCUMENT)).toEqual(DIRECTORY);
    expect(keysOf(VOPRF_ENTRY, RSA_ENTRY).map(({ type }) => type)).toEqual([VOPRF, BLIND_RSA]);
  });

  test('unknown members of a directory are ignored', () => {
    const document = { ...DOCUMENT, serial: 1, 'token-keys': [{ ...VOPRF_ENTRY, more: [] }] };
    expect(parse(document).keys).toEqual([voprf]);
  });

  test('a key without its padding is read', () => {
    const text = encodePadded(SPKI).replaceAll('=', '');
    expect(keysOf({ ...RSA_ENTRY, 'token-key': text })).toHaveLength(1);
  });

  test.each([
    ['an issuer without keys', []],
    ['a type of somebody else', [{ 'token-type': 5, 'token-key': encodePadded(POINT) }]],
    ['a type for greasing', [{ 'token-type': 0x02aa, 'token-key': 'AAAA' }]],
    ['a type that is text', [{ ...VOPRF_ENTRY, 'token-type': '1' }]],
    ['a type that is missing', [{ 'token-key': encodePadded(POINT) }]],
    ['a type that is no integer', [{ ...VOPRF_ENTRY, 'token-type': 1.5 }]],
    ['a key under the other type', [{ ...VOPRF_ENTRY, 'token-type': 2 }]],
    ['the other key under this type', [{ ...RSA_ENTRY, 'token-type': 1 }]],
    ['a key that is missing', [{ 'token-type': 1 }]],
    ['a key that is no text', [{ 'token-type': 1, 'token-key': [...POINT] }]],
    ['a key in base64', [{ ...RSA_ENTRY, 'token-key': SPKI.toString('base64') }]],
    ['a key cut by one', [{ 'token-type': 2, 'token-key': encodePadded(SPKI.subarray(1)) }]],
    [
      'a point that is not on the curve',
      [{ 'token-type': 1, 'token-key': encodePadded(Buffer.alloc(49, 2)) }],
    ],
    ['null', [null]],
    ['text', ['key']],
    ['a list', [[VOPRF_ENTRY]]],
    ['a number', [1]],
  ])('%s gives no key', (_, entries) => expect(keysOf(...entries)).toEqual([]));

  test('a malformed key does not affect the other keys', () => {
    expect(keysOf(null, { 'token-type': 1, 'token-key': '!' }, VOPRF_ENTRY, 7)).toEqual([voprf]);
  });

  test.each([[0], [1_686_913_811], [8_640_000_000_000]])('not-before %d is read', (second) => {
    expect(keysOf({ ...VOPRF_ENTRY, 'not-before': second })).toEqual([
      { ...voprf, notBefore: second },
    ]);
  });

  test.each([[-1], [1.5], [8_640_000_000_001], [1e300], ['1686913811'], [null], [{}], [true]])(
    'a key with not-before %j is ignored',
    (value) => expect(keysOf({ ...VOPRF_ENTRY, 'not-before': value })).toEqual([]),
  );

  test('the first entry of a repeated key is used', () => {
    const later = { ...VOPRF_ENTRY, 'not-before': 5 };
    expect(keysOf(VOPRF_ENTRY, later)).toEqual([voprf]);
    expect(keysOf(later, VOPRF_ENTRY)).toEqual([{ ...voprf, notBefore: 5 }]);
  });

  test('up to 64 entries are checked, and a directory with more is refused', () => {
    const entries = (length: number) => Array.from({ length }, () => VOPRF_ENTRY);
    expect(keysOf(...entries(64))).toEqual([voprf]);
    expect(() => keysOf(...entries(65))).toThrow('more than 64 keys');
    expect(() => keysOf(...entries(100_000))).toThrow('more than 64 keys');
  });

  test.each([
    ['/private-token/request', `${ISSUER}/private-token/request`],
    ['request', `${ISSUER}/.well-known/request`],
    ['../../request?a=b', `${ISSUER}/request?a=b`],
    [`${ISSUER}/request`, `${ISSUER}/request`],
    ['https://ISSUER.example:3444/request', `${ISSUER}/request`],
    ['//issuer.example:3444/request', `${ISSUER}/request`],
  ])('the request URL %s is %s', (uri, url) => expect(requestUrlOf(uri)).toBe(url));

  test.each([
    ['another host', 'https://other.example:3444/request'],
    ['a host below ours', 'https://a.issuer.example:3444/request'],
    ['another port', 'https://issuer.example/request'],
    ['another host without a scheme', '//other.example/request'],
    ['another host behind backslashes', String.raw`\\other.example/request`],
    ['http', 'http://issuer.example:3444/request'],
    ['another scheme', 'javascript:alert(1)'],
    ['data', 'data:,'],
    ['a file', 'file:///etc/passwd'],
    ['blob of this origin', `blob:${ISSUER}/request`],
    ['userinfo', 'https://user:secret@issuer.example:3444/request'],
    ['a name in userinfo', 'https://user@issuer.example:3444/request'],
    ['our name as userinfo', 'https://issuer.example:3444@other.example/request'],
    ['what is no URL', 'https://'],
    ['a number', 1],
    ['null', null],
    ['a list', ['/request']],
    ['nothing', undefined],
  ])('the request URL may not be %s', (_, uri) => {
    expect(() => requestUrlOf(uri)).toThrow(/^the request URL /);
  });

  test('a directory that came over http is refused', () => {
    expect(() => parseDirectory(DOCUMENT, 'http://issuer.example/directory')).toThrow(/https/);
  });

  test.each([
    ['null', null],
    ['a list', [DOCUMENT]],
    ['text', 'directory'],
    ['nothing', undefined],
    ['an empty object', {}],
    ['keys that are no list', { ...DOCUMENT, 'token-keys': { 0: VOPRF_ENTRY } }],
    ['keys that are missing', { 'issuer-request-uri': '/request' }],
  ])('%s is refused', (_, document) => expect(() => parse(document)).toThrow(/^the directory /));

  test('any JSON gives a reason, or a directory that can be used', () => {
    const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.oneof(arbitrary, fc.jsonValue());
    const entry = fc.record(
      {
        'token-type': maybe(fc.constantFrom(1, 2)),
        'token-key': maybe(fc.constantFrom(encodePadded(SPKI), encodePadded(POINT))),
        'not-before': maybe(fc.integer()),
      },
      { requiredKeys: [] },
    );
    const document = fc.record(
      {
        'issuer-request-uri': maybe(fc.oneof(anyPath, anyUrl, fc.constant('/request'))),
        'token-keys': maybe(fc.array(maybe(entry), { maxLength: 5 })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(maybe(document), (given) => {
        let directory: IssuerDirectory;
        try {
          directory = parse(given);
        } catch (error) {
          expect((error as Error).message).toMatch(/^the (directory|request URL) /);
          return;
        }
        expect(new URL(directory.requestUrl).origin).toBe(ISSUER);
        for (const { type, publicKey, id, notBefore = 0 } of directory.keys) {
          expect(publicKey).toEqual({ [VOPRF]: POINT, [BLIND_RSA]: SPKI }[type]);
          expect(id).toEqual(tokenKeyId(publicKey));
          expect(notBefore).toBeGreaterThanOrEqual(0);
          expect(Number.isNaN(new Date(notBefore * 1000).getTime())).toBe(false);
        }
        expect(parse(JSON.parse(formatDirectory(directory)))).toEqual(directory);
      }),
      { numRuns: 500 },
    );
  });
});
