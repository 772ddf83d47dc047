import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatChallenge } from './challenge.ts';
import { parseCredentials } from './credentials.ts';
import { isCredentials } from './naive.fixture.ts';

describe('RFC 9110 section 11.4: credentials', () => {
  test.each([
    [
      'Bearer mF_9.B5f-4.1JqM',
      { scheme: 'bearer', rest: 'mF_9.B5f-4.1JqM', token68: 'mF_9.B5f-4.1JqM' },
    ],
    ['basic   YWJjOg==', { scheme: 'basic', rest: 'YWJjOg==', token68: 'YWJjOg==' }],
    ['Negotiate', { scheme: 'negotiate', rest: '' }],
    ['X a=b', { scheme: 'x', rest: 'a=b', params: { a: 'b' } }],
    ['X a=', { scheme: 'x', rest: 'a=', token68: 'a=' }],
    [
      'X A = "b\\"\\\\c" ,, d="e, f=g"',
      {
        scheme: 'x',
        rest: 'A = "b\\"\\\\c" ,, d="e, f=g"',
        params: { a: 'b"\\c', d: 'e, f=g' },
      },
    ],
    ['X a=b ,', { scheme: 'x', rest: 'a=b ,', params: { a: 'b' } }],
    ['X a="\xe9\t"', { scheme: 'x', rest: 'a="\xe9\t"', params: { a: '\xe9\t' } }],
    ['X a=""', { scheme: 'x', rest: 'a=""', params: { a: '' } }],
  ])('%s', (value, credentials) => {
    expect(parseCredentials(value)).toEqual(credentials);
  });

  test.each([
    ['nothing', ''],
    ['a space first', ' Bearer a'],
    ['a tab for the space', 'Bearer\ta'],
    ['a scheme that is no token', 'Bea(rer a'],
    ['two token68', 'Bearer a b'],
    ['two token68 in a list', 'Bearer a, b'],
    ['token68 and a parameter', 'Bearer a, b=c'],
    ['two schemes', 'Bearer a, Basic b'],
    ['a parameter twice (section 11.2)', 'X a=b, a=c'],
    ['a parameter twice in another case', 'X a=b, A=c'],
    ['an unfinished quoted-string', 'X a="b'],
    ['an escape at the end', 'X a="b\\'],
    ['a quote after a quoted-string', 'X a="b""c"'],
    ['no comma', 'X a=b c=d'],
    ['a parameter without a value', 'X a=b, c='],
    ['a name without a value', 'X a=b, c'],
    ['padding in the middle', 'Bearer a=b='],
    ['CR LF', 'X a="b\r\nc"'],
    ['NUL', 'X a="\0"'],
    ['an escaped NUL', 'X a="\\\0"'],
    ['more than a byte', 'X a="\u0100"'],
  ])('refuses %s', (_, value) => {
    expect(parseCredentials(value)).toBeUndefined();
  });

  test.each(['biwsbj1hLHI9eA==', 'YT8/', 'YT4+YQ', 'biws'])(
    'RFC 7804 section 7: SCRAM may have base64 without quotes: %s',
    (data) => {
      for (const value of [`data=${data}, sid=x`, `sid=x,data=${data}`, `sid=x, data="${data}"`]) {
        expect(parseCredentials(`SCRAM-SHA-256 ${value}`)?.params).toEqual({ data, sid: 'x' });
      }
      const elsewhere = /[/=]/.test(data) ? undefined : { data };
      expect(parseCredentials(`X data=${data}`)?.params).toEqual(elsewhere);
    },
  );

  test.each(['YQ===', 'Y=Q', '==', 'YQ==YQ==', 'Y-Q', 'YQ== x'])(
    'RFC 7804 section 7: SCRAM may have no other text without quotes: %s',
    (data) => {
      expect(parseCredentials(`SCRAM-SHA-256 sid=x, data=${data}`)).toBeUndefined();
    },
  );

  test.each(['AAEC_-8=', 'AAEC_w==', 'AAEC_w', 'AAEC', 'A'.repeat(472)])(
    'RFC 9577 section 2.2.2: PrivateToken may have its token without quotes: %s',
    (token) => {
      for (const value of [`token=${token}`, `token="${token}"`, `TOKEN = ${token} ,`]) {
        expect(parseCredentials(`PrivateToken ${value}`)?.params).toEqual({ token });
        expect(parseCredentials(`privatetoken ${value}, x=y`)?.params).toEqual({ token, x: 'y' });
        expect(parseCredentials(`PRIVATETOKEN x="y=", ${value}`)?.params).toEqual({
          token,
          x: 'y=',
        });
      }
      const elsewhere = token.includes('=') ? undefined : { token, x: 'y' };
      expect(parseCredentials(`X token=${token}, x=y`)?.params).toEqual(elsewhere);
    },
  );

  test.each([
    ['padding of three', 'token=AA==='],
    ['padding in the middle', 'token=A=A'],
    ['padding alone', 'token===, x=y'],
    ['nothing', 'token=, x=y'],
    ['base64 that is not for URLs', 'token=AA+/'],
    ['text after it', 'token=AA== x'],
    ['a second one', 'token=AA==, token=AA=='],
    ['a second one in quotes and another case', 'token=AA==, Token="AA=="'],
    ['another parameter with padding', 'token=AA==, x=AA=='],
    ['half a quoted one', 'token="AA=='],
  ])(
    'RFC 9577 section 2.2.2: a token in other characters than base64url, or twice, is refused: %s',
    (_, value) => {
      expect(parseCredentials(`PrivateToken ${value}`)).toBeUndefined();
    },
  );

  test.each(['constructor', '__proto__', 'tostring'])('%s is a parameter like others', (name) => {
    expect(parseCredentials('X a=b')?.params?.[name]).toBeUndefined();
    expect(parseCredentials(`X ${name}=b`)?.params?.[name]).toBe('b');
    expect(parseCredentials(`X ${name}=b, ${name}=c`)).toBeUndefined();
  });

  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      'B',
      '1',
      '=',
      ',',
      ' ',
      '\t',
      '"',
      '\\',
      '/',
      '+',
      '(',
      '\xe9',
      '\0',
    ),
    maxLength: 14,
  });

  test('exactly the text of the ABNF is accepted, except that a name may not come twice', () => {
    fc.assert(
      fc.property(fc.tuple(fc.constantFrom('', 'a', 'a '), text), ([start, rest]) => {
        const value = start + rest;
        const names = [...value.matchAll(/([aB1+]+)[ \t]*=/g)].map(([, name]) =>
          name?.toLowerCase(),
        );
        const repeated = new Set(names).size < names.length;
        const accepted = parseCredentials(value) !== undefined;
        expect(accepted || (repeated && isCredentials(value))).toBe(isCredentials(value));
      }),
      { numRuns: 5000 },
    );
  });

  test('credentials that formatChallenge writes are read again', () => {
    const value = fc.string({
      unit: fc.constantFrom('a', ' ', '"', '\\', ',', '=', '\xff'),
      maxLength: 9,
    });
    const name = fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~-]{1,9}$/);
    fc.assert(
      fc.property(name, fc.dictionary(name, value, { minKeys: 1 }), (scheme, params) => {
        expect(parseCredentials(formatChallenge({ scheme, params }))).toMatchObject({
          scheme,
          params,
        });
      }),
    );
  });

  test.each([
    ['spaces', `X${' '.repeat(200_000)}(`],
    ['commas', `X ${','.repeat(200_000)}(`],
    ['padding', `X ${'='.repeat(200_000)}`],
    ['token68 and spaces', `X ${'a'.repeat(100_000)}=${' '.repeat(100_000)}(`],
    ['escapes', `X a="${String.raw`\"`.repeat(100_000)}`],
    ['commas between', `X ${'a=b ,'.repeat(50_000)}`],
  ])('parsing 200,000 %s ends in time', (_, value) => {
    expect(parseCredentials(value)).toBeUndefined();
  });
});
