import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { date, linesFrom, raw } from './rules.fixture.ts';
import { matches, nominate, select } from './vary.ts';

/** Returns whether an answer to the first request, with this Vary, matches the second request. */
const answers = (vary: string, first: readonly string[], second: readonly string[]) => {
  const nominated = nominate([vary], raw(...first));
  return typeof nominated !== 'string' && matches(nominated, raw(...second));
};

describe('RFC 9111 section 4.1: requests match', () => {
  test.each([
    ['Foo', ['Foo: 1'], ['Foo: 1', 'Other: 2']],
    ['Foo, BAR', ['foo: 1', 'bar: abc'], ['Bar: abc', 'FOO: 1']],
    ['Foo, Bar', ['Foo: 1'], ['Foo: 1']],
    ['Foo', ['Foo: 1, 2'], ['Foo: 1', 'Foo: 2']],
    ['Foo', ['Foo: 1,2'], ['Foo: 1 , 2']],
    ['Cookie', ['Cookie: a=1', 'Cookie: b=2'], ['Cookie: a=1; b=2']],
    ['Accept-Language', ['Accept-Language: en, de'], ['Accept-Language: eN ,  De']],
    ['Accept-Encoding', ['Accept-Encoding: gzip;q=0.5'], ['Accept-Encoding: GZIP ; q=0.5']],
    ['Host', ['Host: a'], ['Host: b']],
    ['', ['Foo: 1'], ['Foo: 2']],
  ])('with Vary: %s, a request with %j matches one with %j', (vary, first, second) => {
    expect(answers(vary, first, second)).toBe(true);
  });

  test.each([
    ['Foo', ['Foo: 1'], ['Foo: 2']],
    ['Foo', ['Foo: 1'], []],
    ['Foo', [], ['Foo: 1']],
    ['Foo', [], ['Foo:']],
    ['Foo, Bar', ['Foo: 1', 'Bar: abc'], ['Foo: 1']],
    ['Foo', ['Foo: "1, 2"'], ['Foo: "1,2"']],
    ['Foo', ['Foo: a'], ['Foo: A']],
    ['Foo', ['Foo: 1, 2'], ['Foo: 2, 1']],
    ['Foo', ['Foo: "1'], ['Foo: 1']],
    ['Accept-Language', ['Accept-Language: en, de'], ['Accept-Language: de, en']],
    ['Cookie', ['Cookie: a=1,2'], ['Cookie: a=1, 2']],
    ['User-Agent', ['User-Agent: a (b, c)'], ['User-Agent: a (b,c)']],
  ])('with Vary: %s, a request with %j does not match one with %j', (vary, first, second) => {
    expect(answers(vary, first, second)).toBe(false);
  });

  test('a request matches itself, and a request without the field does not match', () => {
    const value = fc.string({ unit: 'binary-ascii', maxLength: 300 });
    fc.assert(
      fc.property(fc.constantFrom('foo', 'cookie', 'accept', 'x-key'), value, (name, text) => {
        const nominated = nominate([name], [name, text]);
        expect(typeof nominated !== 'string' && matches(nominated, [name, text])).toBe(true);
        expect(typeof nominated !== 'string' && matches(nominated, [])).toBe(false);
      }),
    );
  });
});

describe('RFC 9110 section 12.5.5: answers that no request matches', () => {
  test.each([
    [['*'], '*'],
    [['*, *'], '*'],
    [['', '*'], '*'],
    [['Foo, *'], '*'],
    [['a b'], 'a b'],
    [['"foo"'], '"foo"'],
  ])('an answer with Vary %j matches no request', (values, member) => {
    expect(nominate(values, [])).toBe(member);
  });

  test.each([
    'Via',
    'X-Request-Id',
    'X-Auth-Subject',
    'X-Auth-Statement',
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X_Forwarded_Host',
  ])('an answer with Vary: %s, a field that the gateway writes, matches no request', (name) => {
    expect(nominate([`Foo, ${name}`], raw(`${name}: 1`))).toBe(name.toLowerCase());
  });
});

describe('RFC 9111 section 4.1: fields that no client can send to the application', () => {
  test.each(['Remote-User', 'X_Remote_User', 'Client-Cert', 'X-HTTP-Method-Override', 'Proxy'])(
    '%s in Vary is ignored, since the application gets the same value with each request',
    (name) => {
      expect(nominate([`Foo, ${name}`], raw('Foo: 1', `${name}: admin`))).toEqual([['foo', '1']]);
      expect(answers(name, [`${name}: admin`], [])).toBe(true);
    },
  );

  test.each(['Remote-User', 'remote_user', 'X-Staff'])(
    '%s in Vary matches no request if the gateway is configured to write it',
    (name) => {
      const made = new Set(['remote-user', 'x-staff']);
      for (const sent of [[], raw(`${name}: admin`)]) {
        expect(nominate([`Foo, ${name}`], sent, made)).toBe(name.toLowerCase());
      }
    },
  );
});

test.each(['Authorization', 'Cookie', 'DPoP', 'X-API-Key', 'X-Csrf-Token'])(
  'the value of %s is stored as a digest',
  (name) => {
    const nominated = nominate([name], raw(`${name}: secret`));
    expect(JSON.stringify(nominated)).toMatch(/sha256:/);
    expect(JSON.stringify(nominated)).not.toMatch(/"secret/);
    expect(answers(name, [`${name}: secret`], [`${name}: secret`])).toBe(true);
    expect(answers(name, [`${name}: secret`], [`${name}: other`])).toBe(false);
  },
);

test('an API key is stored as a digest, in any field', () => {
  const { key } = newApiKey(systemRandom);
  expect(nominate(['X-Partner'], raw(`X-Partner: ${key}`))).toEqual([
    ['x-partner', expect.stringMatching(/^sha256:/)],
  ]);
});

describe('RFC 9111 section 4.1: selection among several variants', () => {
  const variant = (id: number, seconds: number, vary: readonly (readonly [string, string])[]) => ({
    id,
    vary,
    lines: linesFrom(`Date: ${date(seconds)}`),
    received: 0,
  });
  const chosen = (variants: readonly ReturnType<typeof variant>[], ...fields: string[]) =>
    select(variants, raw(...fields))?.id;
  const english = variant(1, 0, [['lang', 'en']]);
  const german = variant(2, 0, [['lang', 'de']]);

  test('the variant that matches the request is selected', () => {
    expect(chosen([english, german], 'Lang: de')).toBe(2);
    expect(chosen([english, german], 'Lang: fr')).toBeUndefined();
    expect(chosen([english], 'Lang: de')).toBeUndefined();
    expect(chosen([], 'Lang: de')).toBeUndefined();
  });

  test('the most recent matching variant by Date is selected', () => {
    const newer = variant(3, 5, [['other', '1']]);
    expect(chosen([english, newer], 'Lang: en', 'Other: 1')).toBe(3);
    expect(chosen([newer, english], 'Lang: en', 'Other: 1')).toBe(3);
    const another = variant(4, 5, [['other', '1']]);
    expect(chosen([newer, another], 'Other: 1')).toBe(3);
  });

  test('a variant without Vary is selected only if no other variant has Vary', () => {
    const plain = variant(4, 9, []);
    expect(chosen([plain])).toBe(4);
    expect(chosen([plain, english], 'Lang: en')).toBe(1);
    expect(chosen([plain, english], 'Lang: de')).toBeUndefined();
  });
});
