import { describe, expect, test } from '@jest/globals';
import { prefersHtml } from './prefers-html.ts';

describe('whether a page is preferred to JSON (RFC 9110 section 12.5.1)', () => {
  test.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', true],
    ['text/html, text/plain, text/sgml, */*;q=0.01', true],
    ['TEXT/HTML', true],
    ['text/html, */*', true],
    ['text/*', true],
    ['image/png, text/html;q=0.1', true],
    ['text/html, application/json;q=0.9', true],
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json, text/plain, */*', false],
    ['application/json, text/html;q=0.9', false],
    ['application/problem+json, text/html;q=0.9', false],
    ['text/html;q=0, */*', false],
    ['text/html-x', false],
    ['image/png', false],
    ['nonsense', false],
  ])('Accept: %s: %p', (accept, preferred) => {
    expect(prefersHtml(accept)).toBe(preferred);
  });

  test('RFC 9110 section 5.4: 1,024 members are read, and what follows is ignored', () => {
    const others = (length: number) => 'image/png,'.repeat(length);
    expect(prefersHtml(`${others(1023)}text/html`)).toBe(true);
    expect(prefersHtml(`${others(1024)}text/html`)).toBe(false);
  });
});
