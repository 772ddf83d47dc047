import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ATTACKS, skeleton } from './checked.fixture.ts';
import { html } from './html.ts';
import { document } from './document.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };
const page = { title: 'A & B', content: html`<h1>A</h1>`, forms: true } as const;
const SCRIPT = 'console.log(1);';

describe('document', () => {
  const { status, fields, body = '' } = document({ language: 'de', brand: BRAND }, page);

  test('a page has no script, only its own style, and cannot be framed', () => {
    const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(fields['Content-Security-Policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(body).not.toMatch(/<script|\son\w+=|\sstyle=|javascript:/i);
    expect(fields['X-Frame-Options']).toBe('DENY');
  });

  test('a page is not stored, its type is not guessed, and other sites do not get its address or window', () => {
    expect(status).toBe(200);
    expect(fields).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': 'de',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
    });
    expect(fields).not.toHaveProperty('Retry-After');
  });

  test('a page has a language and a title', () => {
    expect(body).toMatch(/^<!doctype html>\s*<html lang="de">/);
    expect(body).toContain('<title>A &amp; B · Countersign</title>');
  });

  test('a malformed address of a picture adds nothing to the policy', () => {
    const pictures = ["https://a;script-src'*'/"];
    const odd = document({ language: 'en', brand: BRAND }, { ...page, pictures });
    expect(odd.fields['Content-Security-Policy']).toBe(fields['Content-Security-Policy']);
  });

  test('Retry-After is in whole seconds, rounded up (RFC 9110 section 10.2.3)', () => {
    const later = document(
      { language: 'en', brand: BRAND },
      { ...page, status: 429, retryAfter: 1.2 },
    );
    expect([later.status, later.fields['Retry-After']]).toEqual([429, '2']);
  });

  test('the policy of a page without forms forbids sending forms', () => {
    const { title, content } = page;
    const still = document({ language: 'en', brand: BRAND }, { title, content });
    expect(still.fields['Content-Security-Policy']).toContain("form-action 'none';");
  });

  test('the only script is allowed by its hash, makes no HTML from text, and sends requests only if the page needs it', () => {
    const run = (script: { text: string; asks?: true }) =>
      document({ language: 'en', brand: BRAND }, { ...page, script });
    const quiet = run({ text: SCRIPT });
    const hash = createHash('sha256').update(SCRIPT).digest('base64');
    const policy = String(quiet.fields['Content-Security-Policy']);
    expect(policy).toContain(
      `script-src 'sha256-${hash}'; require-trusted-types-for 'script'; img-src`,
    );
    expect(quiet.body).toContain(`<script type="module">${SCRIPT}</script>`);
    expect(policy).not.toContain('connect-src');
    expect(run({ text: SCRIPT, asks: true }).fields['Content-Security-Policy']).toContain(
      "connect-src 'self'",
    );
  });

  test('the page contains its icon, so that no browser requests /favicon.ico', () => {
    const [, icon = ''] = /<link rel="icon" href="([^"]*)"/.exec(body) ?? [];
    const svg = decodeURIComponent(icon.replace('data:image/svg+xml,', ''));
    expect(svg).toMatch(/^<svg [^]*fill="#1f5fbf"[^]*> C <\/text> <\/svg>$/);
  });

  test("the footer has the operator's links in the language of the page, and a page without links has no footer", () => {
    const links = [
      { text: { en: 'Terms', de: 'Nutzungsbedingungen' }, url: 'https://www.example/terms' },
      { text: { en: 'Help' }, url: '/help' },
    ];
    const foot = (language: 'en' | 'de') =>
      /<footer[^]*<\/footer>/
        .exec(document({ language, brand: { ...BRAND, links } }, page).body ?? '')?.[0]
        .replaceAll(/\s+/g, ' ')
        .replaceAll('> <', '><');
    expect(foot('en')).toBe(
      '<footer class="foot"><nav aria-label="About this service"><a href="https://www.example/terms">Terms</a><a href="/help">Help</a></nav></footer>',
    );
    expect(foot('de')).toBe(
      '<footer class="foot"><nav aria-label="Über diesen Dienst"><a href="https://www.example/terms">Nutzungsbedingungen</a><a href="/help">Help</a></nav></footer>',
    );
    expect(body).not.toContain('<footer');
  });

  test.each(ATTACKS)('text and URL of a link cannot add an element or attribute: %s', (attack) => {
    const drawn = (text: string) => {
      const links = [{ text: { en: text, de: text }, url: `https://www.example/${text}` }];
      return document({ language: 'de', brand: { ...BRAND, links } }, page);
    };
    expect(skeleton(drawn(attack))).toEqual(skeleton(drawn('x')));
  });

  test('the header shows the logo or the first letter, and links to the home page if there is one', () => {
    const lettered = document({ language: 'en', brand: { ...BRAND, name: '👩‍🚀 Space' } }, page);
    expect(lettered.body).toContain('aria-hidden="true">👩‍🚀</span>');
    const drawn = document(
      { language: 'en', brand: { ...BRAND, logo: '/logo' } },
      { ...page, head: { home: '/', more: html`<b>more</b>` } },
    );
    expect(drawn.body).toMatch(/<a class="brand" href="\/"\s*><img src="\/logo" alt="" \/>/);
    expect(drawn.body).toContain('<link rel="icon" href="/logo" />');
    expect(drawn.body).toContain('<b>more</b>');
    expect(drawn.fields['Content-Security-Policy']).toContain("img-src 'self';");
    expect(body).not.toContain('<a class="brand"');
  });
});
