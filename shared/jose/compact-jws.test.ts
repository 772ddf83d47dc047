import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseCompactJws } from './compact-jws.ts';
import { base64url, GENERATE, signJws } from './jws.fixture.ts';

const { privateKey } = GENERATE.ES256();
const good = signJws({ alg: 'ES256' }, { sub: 'alice' }, privateKey);
const [header = '', payload = '', signature = ''] = good.split('.');
const reasonOf = (text: string) => {
  const parsed = parseCompactJws(text);
  return parsed.ok ? undefined : parsed.reason;
};

test('RFC 7515 section 7.1: a JWS of three parts is parsed', () => {
  expect(parseCompactJws(good)).toMatchObject({
    ok: true,
    algorithm: { alg: 'ES256' },
    payload: { sub: 'alice' },
    signingInput: Buffer.from(`${header}.${payload}`),
  });
});

describe('RFC 7515 section 5.2: malformed text is refused', () => {
  test.each([
    ['nothing', ''],
    ['dots', '..'],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.`],
    ['five parts, as a JWE has', `${good}.a.b`],
    ['an empty header', `.${payload}.${signature}`],
    ['an empty payload', `${header}..${signature}`],
    ['space in front', ` ${good}`],
    ['a line break at the end', `${good}\n`],
    ['space inside', `${header}. ${payload}.${signature}`],
    ['padding', `${header}.${payload}.${signature}==`],
    ['a header that is no JSON', `${base64url('{')}.${payload}.${signature}`],
    ['a header that is an array', `${base64url([])}.${payload}.${signature}`],
    ['a header that is null', `${base64url('null')}.${payload}.${signature}`],
    ['a payload that is a string', `${header}.${base64url('"x"')}.${signature}`],
    ['a byte order mark', `${base64url('\u{feff}{"alg":"ES256"}')}.${payload}.${signature}`],
    ['text that is not UTF-8', `${header}.eyJhIjoi_yJ9.${signature}`],
    ['two tokens in one', `${good}, ${good}`],
  ])('this text is refused: %s', (_, text) => expect(reasonOf(text)).toBeDefined());

  test('RFC 4648 section 3.5: base64url that is not canonical is refused', () => {
    const last = signature.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const other = alphabet[alphabet.indexOf(last) ^ 1] ?? '';
    const respelt = `${header}.${payload}.${signature.slice(0, -1)}${other}`;
    expect(Buffer.from(respelt.split('.')[2] ?? '', 'base64url')).toEqual(
      Buffer.from(signature, 'base64url'),
    );
    expect(reasonOf(respelt)).toBe('signature is not base64url');
  });

  test('the alphabet of base64 instead of base64url is refused', () => {
    expect(reasonOf(`${header}.${payload}.ab+/`)).toBe('signature is not base64url');
  });

  test('more than 8192 characters are refused', () => {
    const room = 8192 - good.length;
    expect(reasonOf(`${good}${'A'.repeat(room)}`)).not.toBe('longer than 8192 characters');
    expect(reasonOf(`${good}${'A'.repeat(room + 1)}`)).toBe('longer than 8192 characters');
  });
});

describe('RFC 7515 section 4.1: the header', () => {
  test.each(['none', 'HS256', 'nOnE', 'ES512', undefined, null, 7, ['ES256']])(
    'the alg %j is refused',
    (alg) =>
      expect(reasonOf(signJws({ alg }, {}, privateKey))).toBe('alg is not on the allow-list'),
  );

  test.each([[['b64']], [['exp']], [[]], 'b64', null])('crit %j is refused (4.1.11)', (crit) =>
    expect(reasonOf(signJws({ alg: 'ES256', crit }, {}, privateKey))).toBe(
      'crit names an extension',
    ),
  );

  test('section 4: the last of duplicate members is used, in every check', () => {
    const twice = signJws('{"alg":"ES256","alg":"none"}', {}, privateKey);
    expect(reasonOf(twice)).toBe('alg is not on the allow-list');
  });

  test('a member called __proto__ adds no header parameters', () => {
    const text = signJws('{"__proto__":{"alg":"ES256"}}', {}, privateKey);
    expect(reasonOf(text)).toBe('alg is not on the allow-list');
  });
});

describe('parsing never throws', () => {
  test('any text is parsed without an exception', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseCompactJws(text).ok === 'boolean'));
  });

  test('any three JSON values are parsed without an exception', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.base64String(), (a, b, c) => {
        const parsed = parseCompactJws(`${base64url(a)}.${base64url(b)}.${c}`);
        return parsed.ok || parsed.reason !== '';
      }),
    );
  });

  test('a token with one character changed is parsed without an exception', () => {
    fc.assert(
      fc.property(fc.nat({ max: good.length - 1 }), fc.string({ maxLength: 2 }), (at, text) => {
        const parsed = parseCompactJws(good.slice(0, at) + text + good.slice(at + 1));
        return typeof parsed.ok === 'boolean';
      }),
    );
  });

  test('nesting as deep as the length allows is parsed without an exception', () => {
    const deep = `{"a":${'['.repeat(2500)}${']'.repeat(2500)}}`;
    expect(parseCompactJws(signJws({ alg: 'ES256' }, deep, privateKey)).ok).toBe(true);
  });
});
