import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answerIn, PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

describe('an error that cannot be sent to a client (RFC 6749 section 4.1.2.1)', () => {
  test.each<[string, Record<string, string>]>([
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: '' }],
    ['a client with a NUL', { client_id: 'web\0' }],
    ['another redirect URI', { redirect_uri: 'https://evil.example/' }],
    ['a redirect URI with a fragment', { redirect_uri: 'https://app.example/callback#x' }],
    ['script as a redirect URI', { redirect_uri: 'javascript:alert(1)' }],
  ])(
    'for %s there is an error page without a redirect, with a link that does not come from the request',
    async (_what, params) => {
      const page = await site.browser().open(site.authorize(params));
      expect(page.status).toBe(400);
      expect(page.headers.get('location')).toBeNull();
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.text).toMatch(/<pre>invalid_\w+/);
      expect(page.text).not.toMatch(/href="(?:https:\/\/evil\.example|javascript:)/);
    },
  );

  test('the error page of a known client links to the client', async () => {
    const page = await site
      .browser()
      .open(site.authorize({ redirect_uri: 'https://evil.example/' }));
    expect(page.text).toContain('href="https://app.example/"');
  });

  test('a client that does not accept HTML gets JSON', async () => {
    const browser = site.browser();
    browser.fields = { accept: 'application/json' };
    const page = await browser.open(site.authorize({ client_id: 'nobody' }));
    expect(page.status).toBe(400);
    expect(JSON.parse(page.text)).toMatchObject({ error: 'invalid_client' });
  });

  test('text from the request is escaped', async () => {
    const page = await site
      .browser()
      .open(site.authorize({ client_id: 'nobody', response_type: '<script>alert(1)</script>' }));
    expect(page.text).not.toContain('<script');
  });
});

test.each(['/token', '/token/revocation', '/token/introspection', '/request', '/device/auth'])(
  'RFC 6749 section 5.2: %s sends errors to a program as JSON, even if its library prefers HTML',
  async (path) => {
    const form = new URLSearchParams({ client_id: 'nobody' });
    const { status, headers, text } = await site.browser().request('POST', path, form);
    expect([400, 401]).toContain(status);
    expect(headers.get('content-type')).toContain('application/json');
    expect(JSON.parse(text)).toMatchObject({ error: expect.any(String) });
  },
);

describe('an interaction that is too old', () => {
  test.each(['/auth/x', '/auth/x?client_id=web', `/auth/${'a'.repeat(43)}`])(
    'the address %s belongs to no interaction, and gets an error page',
    async (path) => {
      const page = await site.browser().open(path);
      expect(page.status).toBe(400);
      expect(page.text).toContain('This page is too old');
      expect(page.text).not.toContain('<pre>');
    },
  );

  test('an interaction that is resumed twice gets the same answer while its code is unused', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const done = await browser.send(asked, { name: 'alice', password: PASSWORD });
    const copy = site.browser();
    copy.plant(browser);
    const consent = await browser.follow(done);
    const answer = answerIn(await browser.submit(consent, { decision: 'allow' }));
    expect(answerIn(await copy.follow(done)).toString()).toBe(answer.toString());
  });
});

test('if the store does not answer, the answer is 503 and says nothing about the store', async () => {
  const own = await testSite();
  const browser = own.browser();
  const form = await browser.open('/account');
  await browser.submit(form, { name: 'alice', password: PASSWORD });
  const consent = await browser.open(own.authorize());
  await own.server.stores[Symbol.asyncDispose]();
  const form503 = await browser.send(form, { name: 'alice', password: PASSWORD });
  const pages = [
    await browser.open(consent.url),
    await browser.open('/account'),
    await browser.open(own.authorize()),
  ];
  for (const page of pages) {
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('We cannot answer right now');
  }
  for (const page of [form503, ...pages]) {
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toBe('1');
    expect(page.text).not.toMatch(/sqlite|database|\.ts\b/i);
  }
  await own[Symbol.asyncDispose]();
});
