import { describe, expect, test } from '@jest/globals';
import { requestOf } from '#shared/auth/judge/auth.fixture.ts';
import { type Asker, askerOf } from './sign-in.ts';

const HTML = ['Accept', 'text/html,application/xhtml+xml,*/*;q=0.8'] as const;
const FIREFOX = [
  'User-Agent',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
] as const;
const NAVIGATION = [
  HTML,
  ['Sec-Fetch-Mode', 'navigate'] as const,
  ['Sec-Fetch-Dest', 'document'] as const,
];

describe('kinds of clients (Fetch Metadata, sections 2.1 and 2.2)', () => {
  test.each<[string, string, readonly (readonly [string, string])[], Asker]>([
    ['a browser', 'GET', NAVIGATION, 'navigation'],
    ['its look ahead of the content', 'HEAD', NAVIGATION, 'navigation'],
    ['a browser without Fetch Metadata', 'GET', [HTML, FIREFOX], 'navigation'],
    [
      'HTML in other letters, with a weight',
      'GET',
      [['Accept', 'a/b, TEXT/HTML ;q=0.1'], FIREFOX],
      'navigation',
    ],
    ['a form', 'POST', NAVIGATION, 'form'],
    ['a form without Fetch Metadata', 'POST', [HTML, FIREFOX], 'form'],
    ['a method of no form', 'DELETE', NAVIGATION, 'form'],
    [
      'HttpURLConnection of Java',
      'GET',
      [
        ['Accept', 'text/html, image/gif, image/jpeg, */*; q=0.2'],
        ['User-Agent', 'Java/17.0.12'],
      ],
      'reader',
    ],
    [
      'lynx',
      'GET',
      [
        ['Accept', 'text/html, text/plain, text/sgml, */*;q=0.01'],
        ['User-Agent', 'Lynx/2.9.0dev.12 libwww-FM/2.14'],
      ],
      'reader',
    ],
    ['w3m', 'GET', [HTML, ['User-Agent', 'w3m/0.5.3+git20230121']], 'reader'],
    ['a client without a name', 'POST', [HTML], 'reader'],
    ['JSON rather than HTML', 'GET', [['Accept', 'text/html;q=0.9, application/json']], 'program'],
    ['no HTML', 'GET', [['Accept', 'text/html;q=0, */*'], FIREFOX], 'program'],
    ['a command line', 'GET', [['Accept', '*/*']], 'program'],
    ['nobody who says what they accept', 'GET', [], 'program'],
    ['what only begins so', 'GET', [['Accept', 'text/html-x']], 'program'],
    ['a script', 'GET', [HTML, ['Sec-Fetch-Mode', 'cors']], 'program'],
    ['a frame', 'GET', [...NAVIGATION.slice(0, 2), ['Sec-Fetch-Dest', 'iframe']], 'program'],
    ['two that differ', 'GET', [...NAVIGATION, ['Sec-Fetch-Dest', 'image']], 'program'],
    ['a prefetch', 'GET', [...NAVIGATION, ['Sec-Purpose', 'prefetch']], 'program'],
    ['a prerender', 'GET', [...NAVIGATION, ['Sec-Purpose', 'prefetch;prerender']], 'program'],
  ])('a client is classified by its fields: %s: %s', (_what, method, fields, asker) => {
    expect(askerOf(requestOf(fields, { method }))).toBe(asker);
  });

  test('a WebSocket handshake is not a navigation', () => {
    expect(askerOf(requestOf(NAVIGATION, { handshake: true }))).toBe('program');
  });

  test('a malformed Accept is 400', () => {
    expect(() => askerOf(requestOf([['Accept', 'text/html;a="']]))).toThrow('malformed');
  });
});
