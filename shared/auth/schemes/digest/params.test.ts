import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { parseDigestParams } from './params.ts';

const SENT = {
  username: 'alice',
  realm: 'people',
  nonce: 'n',
  uri: '/a',
  opaque: 'o',
  algorithm: 'SHA-256',
  response: '0123456789abcdef'.repeat(4),
  qop: 'auth',
  nc: '0000000a',
  cnonce: 'c',
};
const READ = {
  username: 'alice',
  userhash: false,
  realm: 'people',
  nonce: 'n',
  uri: '/a',
  opaque: 'o',
  algorithm: 'SHA-256',
  response: SENT.response,
  protection: { qop: 'auth', nc: '0000000a', count: 10, cnonce: 'c' },
};
/** Returns `SENT` with changes; undefined removes a parameter. */
const sent = (changes: Readonly<Record<string, string | undefined>>): AuthParams =>
  Object.fromEntries(
    Object.entries({ ...SENT, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  );
/** Returns one character for each octet, as node:http reads a field. */
const octets = (text: string) => Buffer.from(text).toString('latin1');

describe('RFC 7616 section 3.4: parameters', () => {
  test('all parameters are read', () => expect(parseDigestParams(SENT)).toEqual(READ));

  test('parameters are read from one line, quoted or not', () => {
    const quoted = Object.entries(SENT).map(([name, value]) => `${name}="${value}"`);
    const plain = [
      'algorithm=SHA-256',
      'qop=auth',
      'nc=0000000a',
      'userhash=false',
      ...quoted.filter((param) => !/^(algorithm|qop|nc)=/.test(param)),
    ];
    for (const params of [quoted, plain]) {
      const credentials = parseCredentials(`Digest ${params.join(', ')}`);
      expect(parseDigestParams(credentials?.params ?? {})).toEqual(READ);
    }
  });

  test('section 3.3: parameters without an algorithm mean MD5', () => {
    expect(parseDigestParams(sent({ algorithm: undefined }))).toMatchObject({ algorithm: 'MD5' });
  });

  test('RFC 2069: nc and cnonce are ignored without qop', () => {
    const none = { qop: undefined, nc: undefined, cnonce: undefined };
    expect(parseDigestParams(sent(none))).toMatchObject({ protection: undefined });
    expect(parseDigestParams(sent({ qop: undefined }))).toMatchObject({ protection: undefined });
  });

  test.each([
    ['UTF-8', { username: octets('jäsøn') }, 'jäsøn'],
    ['ISO-8859-1 (python-requests)', { username: 'j\xe4s\xf8n' }, 'jäsøn'],
    ['extended', { username: undefined, 'username*': "UTF-8''j%C3%A4s%C3%B8n" }, 'jäsøn'],
    ['with a byte order mark, which is part of it', { username: '\xef\xbb\xbfa' }, '\ufeffa'],
  ])('section 4: the name may be in %s', (_, changes, username) => {
    expect(parseDigestParams(sent(changes))).toMatchObject({ username, userhash: false });
  });

  test('section 3.4.4: a hash may replace the name', () => {
    const username = 'ab'.repeat(16);
    const params = sent({ username, userhash: 'true' });
    expect(parseDigestParams(params)).toMatchObject({ username, userhash: true });
  });

  test.each([
    ['the first', '00000001', 1],
    ['capital letters', '000000FF', 255],
    ['the last', 'ffffffff', 4_294_967_295],
  ])('nc: %s', (_, nc, count) => {
    expect(parseDigestParams(sent({ nc }))).toMatchObject({ protection: { nc, count } });
  });

  test.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['no name', { username: undefined }],
    ['two names', { 'username*': "UTF-8''alice" }],
    [
      'an extended name that is hashed',
      { username: undefined, 'username*': "UTF-8''" + 'ab'.repeat(32), userhash: 'true' },
    ],
    ['an extended name that is not UTF-8', { username: undefined, 'username*': "UTF-8''%E4" }],
    ['an extended name in ISO-8859-1', { username: undefined, 'username*': "ISO-8859-1''%E4" }],
    ['an extended name without its charset', { username: undefined, 'username*': 'alice' }],
    ['an invalid hash', { userhash: 'true' }],
    ['a hash in capital letters', { username: 'AB'.repeat(32), userhash: 'true' }],
    ['a hash that is too long', { username: 'ab'.repeat(33), userhash: 'true' }],
    ['userhash that is neither', { userhash: 'yes' }],
    ['userhash in capital letters', { userhash: 'TRUE' }],
    ['no realm', { realm: undefined }],
    ['no nonce', { nonce: undefined }],
    ['no uri', { uri: undefined }],
    ['no response', { response: undefined }],
    ['an empty response', { response: '' }],
    ['a response that is short', { response: '0'.repeat(31) }],
    ['a response that is long', { response: '0'.repeat(65) }],
    ['a response in capital letters', { response: 'A'.repeat(64) }],
    ['a response that is not hexadecimal', { response: 'g'.repeat(64) }],
    ['a response with LF', { response: `${'0'.repeat(64)}\n` }],
    ['no nc', { nc: undefined }],
    ['nc 0', { nc: '00000000' }],
    ['nc of 7 digits', { nc: '0000001' }],
    ['nc of 9 digits', { nc: '000000001' }],
    ['nc with a sign', { nc: '-0000001' }],
    ['nc with a prefix', { nc: '0x000001' }],
    ['nc that is not hexadecimal', { nc: '0000000g' }],
    ['nc with white space', { nc: ' 0000001' }],
    ['no cnonce', { cnonce: undefined }],
    ['an empty cnonce', { cnonce: '' }],
    ['a cnonce that is not ASCII', { cnonce: '\xe4' }],
    ['a cnonce with a control character', { cnonce: 'a\tb' }],
    ['a cnonce without end', { cnonce: 'a'.repeat(257) }],
  ])('parameters are refused with %s', (_, changes) => {
    const told = parseDigestParams(sent(changes));
    // The parameter that the parser names is one of the changed parameters, or a form of the name.
    expect([...Object.keys(changes), 'username', 'username*']).toContain(told);
  });

  test('parameters are accepted only as they were sent', () => {
    const value = fc.string({ unit: 'binary-ascii' });
    const names = [...Object.keys(SENT), 'username*', 'userhash'];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (changes) => {
        const params = sent(changes);
        const read = parseDigestParams(params);
        if (typeof read === 'string') return;
        expect(read.realm).toBe(params['realm']);
        expect(read.uri).toBe(params['uri']);
        expect(read.response).toMatch(/^[0-9a-f]{32,64}$/);
        expect(read.protection?.count ?? 1).toBeGreaterThan(0);
        expect(read.protection?.cnonce ?? 'c').toMatch(/^[ -~]+$/);
      }),
    );
  });
});
