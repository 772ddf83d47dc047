import { describe, expect, test } from '@jest/globals';
import { brandSchema } from './brand-schema.ts';

const text = { en: 'Terms' };
const taken = (links: unknown) => brandSchema.safeParse({ links }).success;

describe('links of the operator', () => {
  test('there are none by default', () => {
    expect(brandSchema.parse({}).links).toEqual([]);
  });

  test.each([
    'https://www.example/terms',
    'https://www.example:8443/terms?version=2#liability',
    '/terms',
    '/',
    '/a/../terms?x=1#y',
  ])('%s is accepted', (url) => {
    expect(taken([{ text, url }])).toBe(true);
  });

  test.each([
    'http://www.example/terms',
    'javascript:alert(1)',
    'JavaScript:alert(1)//https://www.example/',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    // Another host in the browser's reading (URL Standard section 4.4).
    '//evil.example/terms',
    '/\\evil.example/terms',
    '/\t/evil.example/terms',
    '/\n/evil.example/terms',
    '\\\\evil.example',
    'https:\\\\evil.example',
    // A host that looks like userinfo.
    'https://www.example@evil.example/terms',
    'https://:secret@www.example/',
    'https://',
    'https:///terms',
    'https://www.example/a b',
    'https://www.example/\u202egro',
    'terms',
    '../terms',
    '?x',
    '',
    `/${'x'.repeat(2_048)}`,
    1,
    null,
  ])('%j is refused', (url) => {
    expect(taken([{ text, url }])).toBe(false);
  });

  test.each([
    ['no words', { text: {}, url: '/x' }],
    ['empty words', { text: { en: '' }, url: '/x' }],
    ['long words', { text: { en: 'x'.repeat(61) }, url: '/x' }],
    ['German alone', { text: { de: 'Hilfe' }, url: '/x' }],
    ['an unknown language', { text: { en: 'Help', fr: 'Aide' }, url: '/x' }],
    ['a member more', { text, url: '/x', onclick: 'alert(1)' }],
    ['words alone', { text }],
  ])('%s: the links are refused', (_, link) => {
    expect(taken([{ text, url: '/x' }])).toBe(true);
    expect(taken([link])).toBe(false);
  });

  test('six links are allowed at most', () => {
    const links = Array.from({ length: 7 }, () => ({ text, url: '/x' }));
    expect(taken(links.slice(1))).toBe(true);
    expect(taken(links)).toBe(false);
  });
});
