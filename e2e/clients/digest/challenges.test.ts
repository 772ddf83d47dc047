import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { credentials, parseChallenges, parseParams, quoted, token } from './challenges.ts';

describe('challenges (RFC 9110 section 11.3)', () => {
  test('section 11.6.1: reads the example with two challenges in one line', () => {
    const line = 'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""';
    expect(parseChallenges([line])).toEqual([
      { scheme: 'Basic', params: [quoted('realm', 'simple')] },
      {
        scheme: 'Newauth',
        params: [quoted('realm', 'apps'), token('type', '1'), quoted('title', 'Login to "apps"')],
      },
    ]);
  });

  test('reads several lines, a token68, a bare scheme, empty elements, and BWS around the equals sign', () => {
    const lines = [', Negotiate YWJj==,, Basic', 'Digest , realm = "a" ,\tstale=true,'];
    expect(parseChallenges(lines)).toEqual([
      { scheme: 'Negotiate', token68: 'YWJj==', params: [] },
      { scheme: 'Basic', params: [] },
      { scheme: 'Digest', params: [quoted('realm', 'a'), token('stale', 'true')] },
    ]);
  });

  test.each([
    'realm="no scheme"',
    'Digest realm="a" stale=true',
    'Digest realm="a", Realm="b"',
    'Digest realm="open',
    'Digest realm="a" b',
    'Digest a="b", realm=',
    'Digest realm="\u00e4"',
    'Digest realm="\u007f"',
    'Basic YWJj, realm="after a token68"',
    'SCRAM-SHA-256 data=biws=x',
    'Two words here',
    'Digest/realm="a"',
  ])('refuses %j', (line) => {
    expect(() => parseChallenges([line])).toThrow(SyntaxError);
  });

  test("RFC 7804 section 5: reads SCRAM's data as base64 without quotes", () => {
    const [{ params } = { params: [] }] = parseChallenges(['SCRAM-SHA-256 data=biws=, sid=a']);
    expect(params).toEqual([token('data', 'biws='), token('sid', 'a')]);
  });

  test('section 11.6.3: a list of parameters in one or several lines is read; a scheme or a duplicate is refused', () => {
    expect(parseParams(['a=1,', 'b="2"'])).toEqual([token('a', '1'), quoted('b', '2')]);
    expect(() => parseParams(['Digest a=1'])).toThrow(SyntaxError);
    expect(() => parseParams(['a=1', 'A=2'])).toThrow(SyntaxError);
  });
});

const tokens = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,8}$/);
const texts = fc.stringMatching(/^[\t -~]{0,12}$/);
const params = fc.uniqueArray(
  fc.oneof(
    fc.tuple(tokens, tokens).map(([name, value]) => token(name, value)),
    fc.tuple(tokens, texts).map(([name, value]) => quoted(name, value)),
  ),
  { selector: ({ name }) => name.toLowerCase(), minLength: 1, maxLength: 5 },
);

test('written challenges are read back unchanged, however they are spread over lines', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(tokens, params), { maxLength: 4 }), (list) => {
      const lines = list.map(([scheme, values]) => credentials(scheme, values));
      const expected = list.map(([scheme, values]) => ({ scheme, params: values }));
      expect(parseChallenges(lines)).toEqual(expected);
      expect(parseChallenges([lines.join(' ,, ')])).toEqual(expected);
    }),
  );
});

test('any text is read, or refused as a syntax error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      try {
        parseChallenges([text]);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }),
  );
});
