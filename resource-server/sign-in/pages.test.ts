import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { createPages } from './pages.ts';
import { TEXTS } from './texts.ts';

const HOSTILE = '"><script>alert(1)</script>&';
const config = configSchema.parse({ brand: { name: HOSTILE, color: '#ffee00' } });
const lookOf = ({ brand: { name, color } }: typeof config) => ({ name, color });
const pages = createPages({ brand: lookOf(config), issuer: config.issuer });
const EN = { language: 'en' };

const all = [
  pages.message(409, 'notTaken', EN, `/${HOSTILE}`),
  pages.forbidden(EN, HOSTILE),
  pages.signOut(EN),
  pages.signedOut(EN, `/${HOSTILE}`),
];

describe('each page', () => {
  test.each(all)('a page runs no script, and is never framed or stored (CSP Level 3)', (page) => {
    expect(page.body).not.toContain('<script');
    expect(page.body).not.toContain('"">');
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page.body ?? '') ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(page.fields).toMatchObject({
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; form-action '${page.body?.includes('<form') ? 'self' : 'none'}'; base-uri 'none'; frame-ancestors 'none'`,
      'Referrer-Policy': 'same-origin',
    });
  });

  test.each([
    ['de', 'de'],
    ['de-AT, en;q=0.5', 'de'],
    ['fr, de;q=0.2, en;q=0.1', 'de'],
    ['fr', 'en'],
    ['*', 'en'],
    [undefined, 'en'],
    ['nonsense, ;;;', 'en'],
  ])('Accept-Language: %s gives a page in %s (RFC 9110 section 12.5.4)', (language, chosen) => {
    const { fields, body } = pages.signOut({ language });
    expect(fields['Content-Language']).toBe(chosen);
    expect(body).toContain(TEXTS[chosen === 'de' ? 'de' : 'en'].signOut.title);
  });

  test.each([
    ['#ffee00', '#000000'],
    ['#1f5fbf', '#ffffff'],
  ])('on the color %s, text has the readable color %s', (color, ink) => {
    const { issuer, ...other } = configSchema.parse({ brand: { color } });
    const drawn = createPages({ brand: lookOf({ ...config, ...other }), issuer });
    expect(drawn.signOut(EN).body).toContain(`--on-fill: ${ink};`);
  });
});
