import { describe, expect, test } from '@jest/globals';
import { cookiesNamed, parseCookies, withoutCookies } from './cookies.ts';

const NAME = '__Host-countersign-session-x';

describe('cookies', () => {
  test('RFC 6265 section 5.2: spaces and tabs around names and values are removed', () => {
    expect(parseCookies([' a = 1 ;\tb=2\t', 'c=3'])).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
    expect(withoutCookies(` a=1;\t${NAME} =s ; b=2`, (name) => name === NAME)).toBe('a=1; b=2');
  });

  test('empty parts are skipped, and a request with more than 1,000 cookies has none', () => {
    expect(parseCookies([';;; ;a=1;;', ' ; '])).toEqual([['a', '1']]);
    const many = (length: number) => Array<string>(length).fill('a=1').join(';');
    expect(parseCookies([many(600), many(400)])).toHaveLength(1000);
    expect(parseCookies([many(600), many(401)])).toEqual([]);
    expect(withoutCookies(`;;${many(2)}; ;b=2;`, (name) => name === 'a')).toBe('b=2');
  });

  test.each(['\u00a0', '\u000b', '\u000c'])(
    'RFC 6265bis section 4.1.3.2: a name after %j has no valid prefix, so any host may have set the cookie',
    (space) => {
      expect(cookiesNamed(parseCookies([`${space}${NAME}=planted`]), NAME)).toEqual([]);
      expect(cookiesNamed(parseCookies([`${space}${NAME}=planted; ${NAME}=own`]), NAME)).toEqual([
        'own',
      ]);
    },
  );
});
