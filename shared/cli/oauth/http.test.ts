import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseSafeUrl } from './http.ts';

test.each([
  'https://api.example/a?b',
  'http://localhost:3001/',
  'http://127.0.0.1/',
  'http://[::1]:3/',
])('%s may be asked for a token', (text) => {
  expect(parseSafeUrl(text)?.href).toBe(text);
});

test.each([
  '',
  'x',
  'http://api.example/',
  'ftp://localhost/',
  'https://user@api.example/',
  'https://:pw@api.example/',
  'https://api.example/#a',
  'https://api.example/#',
  'javascript:alert(1)',
  'http://localhost.evil.example/',
  'http://127.0.0.1@evil.example/',
])('%j may not be asked for a token', (text) => {
  expect(parseSafeUrl(text)).toBeUndefined();
});

test('no text gives a clear-text URL of another machine, or a URL with a user', () => {
  const text = fc.array(
    fc.constantFrom(
      'http',
      's',
      '://',
      'localhost',
      '127.0.0.1',
      'evil.example',
      '@',
      ':',
      '/',
      '#',
      '\\',
      '\t',
      '?',
      '8',
      '[::1]',
    ),
  );
  fc.assert(
    fc.property(text, (parts) => {
      const url = parseSafeUrl(parts.join(''));
      if (url === undefined) return;
      expect(url.username + url.password + url.hash).toBe('');
      expect(url.protocol === 'https:' || /^(localhost|127\..*|\[::1\])$/.test(url.hostname)).toBe(
        true,
      );
    }),
    { numRuns: 1000 },
  );
});
