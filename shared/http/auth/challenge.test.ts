import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { type Challenge, formatChallenge, formatInfo, parseChallenges } from './challenge.ts';
import { isChallenges } from './naive.fixture.ts';

describe('RFC 9110 section 11.6.1: writing a challenge', () => {
  test.each<[Challenge, string]>([
    [{ scheme: 'Negotiate' }, 'Negotiate'],
    [{ scheme: 'Basic', params: {} }, 'Basic'],
    [{ scheme: 'Negotiate', token68: 'oYG2==' }, 'Negotiate oYG2=='],
    [{ scheme: 'Basic', params: { realm: 'a "b" \\c' } }, String.raw`Basic realm="a \"b\" \\c"`],
    [
      { scheme: 'DPoP', params: { realm: 'r', error: 'use_dpop_nonce', algs: 'ES256 EdDSA' } },
      'DPoP realm="r", error="use_dpop_nonce", algs="ES256 EdDSA"',
    ],
    [
      {
        scheme: 'Digest',
        params: { realm: 'r', qop: 'auth', algorithm: 'SHA-256', stale: 'true' },
      },
      'Digest realm="r", qop="auth", algorithm=SHA-256, stale=true', // RFC 7616 section 3.3
    ],
    [
      { scheme: 'Digest', params: { nonce: 'n', charset: 'UTF-8', userhash: 'true' } },
      'Digest nonce="n", charset=UTF-8, userhash=true', // RFC 7616 section 3.9.2
    ],
    [{ scheme: 'Basic', params: { charset: 'UTF-8' } }, 'Basic charset="UTF-8"'], // RFC 7617 section 2.1
    [
      { scheme: 'SCRAM-SHA-256', params: { realm: 'r', sr: '%a.b', ttl: '180', stale: 'true' } },
      'SCRAM-SHA-256 realm="r", sr=%a.b, ttl=180, stale=true', // RFC 7804 section 7
    ],
  ])('%j', (challenge, value) => {
    expect(formatChallenge(challenge)).toBe(value);
  });

  test.each<[string, Challenge]>([
    ['CR LF in a value', { scheme: 'Basic', params: { realm: 'a\r\nSet-Cookie: b=c' } }],
    ['NUL in a value', { scheme: 'Basic', params: { realm: '\0' } }],
    ['DEL in a value', { scheme: 'Basic', params: { realm: '\x7f' } }],
    ['more than a byte in a value', { scheme: 'Basic', params: { realm: '\u0100' } }],
    ['a name with a space', { scheme: 'Basic', params: { 'a b': 'c' } }],
    ['a name with CR LF', { scheme: 'Basic', params: { 'a\r\n': 'c' } }],
    ['an empty name', { scheme: 'Basic', params: { '': 'c' } }],
    ['a scheme with CR LF', { scheme: 'Basic\r\n' }],
    ['an empty scheme', { scheme: '' }],
    ['a token68 with a space', { scheme: 'Negotiate', token68: 'a b' }],
    ['a token68 with CR LF', { scheme: 'Negotiate', token68: 'a\r\n' }],
    ['a token form that is no token', { scheme: 'Digest', params: { algorithm: 'a, stale=true' } }],
  ])('refuses %s', (_, challenge) => {
    expect(() => formatChallenge(challenge)).toThrow(TypeError);
  });

  test('any challenge is written as one line', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (name, value) => {
        let line = '';
        try {
          line = formatChallenge({ scheme: 'X', params: { [name]: value } });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
        expect(line).toMatch(/^[ -~\x80-\xff]*$/);
      }),
    );
  });
});

describe('RFC 9110 section 11.6.3: writing Authentication-Info', () => {
  test('RFC 7616 section 3.5: Digest quotes all parameters except qop and nc', () => {
    const params = { nextnonce: 'n', qop: 'auth', rspauth: '0f', cnonce: 'a"b\\c', nc: '00000001' };
    expect(formatInfo('Digest', params)).toBe(
      String.raw`nextnonce="n", qop=auth, rspauth="0f", cnonce="a\"b\\c", nc=00000001`,
    );
  });

  test('RFC 7804 section 7: SCRAM quotes no parameter, not even base64', () => {
    expect(formatInfo('SCRAM-SHA-256', { sid: 's', data: 'dj1h+/A==' })).toBe(
      'sid=s, data=dj1h+/A==',
    );
    expect(() => formatInfo('SCRAM-SHA-1', { data: 'a, sid=b' })).toThrow(TypeError);
  });

  test('all parameters of another scheme are quoted', () => {
    expect(formatInfo('X', { sid: 's', qop: 'q' })).toBe('sid="s", qop="q"');
  });

  test.each([
    ['CR LF in a value', { cnonce: 'a\r\nSet-Cookie: b=c' }],
    ['a count that is no token', { nc: '00000001, rspauth=0' }],
    ['a name with CR LF', { 'a\r\n': 'c' }],
  ])('refuses %s', (_, params) => {
    expect(() => formatInfo('Digest', params)).toThrow(TypeError);
  });
});

describe('RFC 9110 section 11.6.1: reading challenges', () => {
  test('the example of RFC 9110 section 11.6.1 is read', () => {
    const value = String.raw`Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\""`;
    expect(parseChallenges(value)).toEqual([
      { scheme: 'Basic', params: { realm: 'simple' } },
      { scheme: 'Newauth', params: { realm: 'apps', type: '1', title: 'Login to "apps"' } },
    ]);
  });

  test.each<[string, Challenge[]]>([
    ['', []],
    [
      'SCRAM-SHA-1 sid=a, data=cj0rLw==, Basic realm=b',
      [
        { scheme: 'SCRAM-SHA-1', params: { sid: 'a', data: 'cj0rLw==' } },
        { scheme: 'Basic', params: { realm: 'b' } },
      ],
    ],
    [', ,', []],
    ['Negotiate, Basic', [{ scheme: 'Negotiate' }, { scheme: 'Basic' }]],
    [
      'Negotiate a==, Basic b',
      [
        { scheme: 'Negotiate', token68: 'a==' },
        { scheme: 'Basic', token68: 'b' },
      ],
    ],
    [
      ', A ,, B a=b,, c = d ,, C ,',
      [{ scheme: 'A' }, { scheme: 'B', params: { a: 'b', c: 'd' } }, { scheme: 'C' }],
    ],
    ['A ,b=c', [{ scheme: 'A', params: { b: 'c' } }]],
    ['A a="x, B b=c", B', [{ scheme: 'A', params: { a: 'x, B b=c' } }, { scheme: 'B' }]],
  ])('%s', (value, challenges) => {
    expect(parseChallenges(value)).toEqual(challenges);
  });

  test.each([
    ['a parameter without a scheme', 'realm="a"'],
    ['a parameter after a scheme and a comma', 'A, b=c'],
    ['no comma between challenges', 'A b=c D'],
    ['token68 and a parameter', 'A b, c=d'],
    ['a parameter twice', 'A b=c, B=d'],
    ['an unfinished quoted-string', 'A b="c, B d=e'],
    ['GNAP with semicolons (RFC 9635 section 9.1)', 'GNAP as_uri=https://a;access=b'],
  ])('refuses %s', (_, value) => {
    expect(parseChallenges(value)).toBeUndefined();
  });

  const text = fc.string({
    unit: fc.constantFrom('a', 'B', '=', ',', ' ', '\t', '"', '\\', '/', '('),
    maxLength: 16,
  });

  test('exactly the text of the ABNF is accepted, except that a name may not come twice', () => {
    fc.assert(
      fc.property(text, (value) => {
        const names = [...value.matchAll(/([aB]+)[ \t]*=/g)].map(([, name]) => name?.toLowerCase());
        const repeated = new Set(names).size < names.length;
        const accepted = parseChallenges(value) !== undefined;
        expect(accepted || (repeated && isChallenges(value))).toBe(isChallenges(value));
      }),
      { numRuns: 5000 },
    );
  });

  test('challenges that formatChallenge writes are read again, several on one line', () => {
    const token = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,9}$/);
    const value = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', ',', '=', '\xff') });
    const challenge = fc.oneof(
      fc.record({ scheme: token }),
      fc.record({ scheme: token, token68: fc.stringMatching(/^[A-Za-z0-9._~+/-]{1,9}={0,2}$/) }),
      fc.record({ scheme: token, params: fc.dictionary(token, value, { minKeys: 1 }) }),
    );
    fc.assert(
      fc.property(fc.array(challenge), (challenges) => {
        expect(parseChallenges(challenges.map(formatChallenge).join(', '))).toEqual(challenges);
      }),
    );
  });
});
