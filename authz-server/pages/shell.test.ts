import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { html } from './html.ts';
import { document } from './shell.ts';

const BRAND = { name: 'Countersign', color: '#1f5fbf' };
const page = { title: 'A & B', content: html`<h1>A</h1>` };

describe('document', () => {
  const { status, fields, body = '' } = document({ language: 'de', brand: BRAND }, page);

  test('has no script, no style but its own, and cannot be framed', () => {
    const style = /<style>([^]*?)<\/style>/.exec(body)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(fields['Content-Security-Policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(body).not.toMatch(/<script|\son\w+=|\sstyle=|javascript:/i);
    expect(fields['X-Frame-Options']).toBe('DENY');
  });

  test('is not stored, not sniffed, and keeps its address and its window to itself', () => {
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

  test('says its language and its title', () => {
    expect(body).toMatch(/^<!doctype html>\s*<html lang="de">/);
    expect(body).toContain('<title>A &amp; B · Countersign</title>');
  });

  test('names the redirect URI in form-action only where one was given, without its query', () => {
    const redirectUri = 'https://app.example:8443/cb?state=secret';
    const given = document({ language: 'en', brand: BRAND }, { ...page, redirectUri });
    expect(given.fields['Content-Security-Policy']).toContain(
      "form-action 'self' https://app.example:8443/cb;",
    );
    const odd = document(
      { language: 'en', brand: BRAND },
      { ...page, redirectUri: "https://a;script-src'*'/" },
    );
    expect(odd.fields['Content-Security-Policy']).toBe(fields['Content-Security-Policy']);
  });

  test('Retry-After is in whole seconds, rounded up (RFC 9110 section 10.2.3)', () => {
    const later = document(
      { language: 'en', brand: BRAND },
      { ...page, status: 429, retryAfter: 1.2 },
    );
    expect([later.status, later.fields['Retry-After']]).toEqual([429, '2']);
  });

  test('the head shows the logo or the first letter, and who is signed in', () => {
    const lettered = document({ language: 'en', brand: { ...BRAND, name: '👩‍🚀 Space' } }, page);
    expect(lettered.body).toContain('aria-hidden="true">👩‍🚀</span>');
    const drawn = document(
      { language: 'en', brand: { ...BRAND, logo: 'logo.svg' }, person: '<alice>' },
      page,
    );
    expect(drawn.body).toContain('<img src="/logo" alt="" />');
    expect(drawn.body).toContain('<a href="/account">&lt;alice&gt;</a>');
    expect(body).not.toContain('/account');
  });
});
