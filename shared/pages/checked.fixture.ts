import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Answer } from '#shared/http/answer.ts';

/** Texts that try to add an element, an attribute or a script to a page. */
export const ATTACKS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onfocus='alert(1)",
  '</title></style><svg onload=alert(1)>',
  '<!--',
  '&lt;b&gt;',
  '${1}',
];

/** Returns the elements of a page with their attributes, without text and values. */
export function skeleton({ body = '' }: Answer): readonly string[] {
  const elements = body.replaceAll(/="[^"]*"/g, '=""').match(/<[^>]*>/g) ?? [];
  return elements.map((element) => element.replaceAll(/\s+/g, ' '));
}

/** Expects a strict policy: no script except the page's own, by its hash, and no other style (CSP Level 3). */
export function expectStrict({ fields, body = '' }: Answer): void {
  const policy = fields['Content-Security-Policy'];
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; (?:script-src 'sha256-[A-Za-z0-9+/]{43}='; require-trusted-types-for 'script'; (?:connect-src 'self'; )?)?img-src data:(?: https:\/\/pictures\.example\/of\/alice\.png)?(?: https:\/\/pictures\.example\/)?; form-action '(?:none|self)'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  const scripts = [...body.matchAll(/<script type="module">([^]*?)<\/script>/g)];
  for (const [, text = ''] of scripts) {
    expect(policy).toContain(createHash('sha256').update(text).digest('base64'));
  }
  expect(scripts).toHaveLength(body.match(/<script/g)?.length ?? 0);
  const still = body.replaceAll(/<script type="module">[^]*?<\/script>/g, '');
  expect(still).not.toMatch(/\son[a-z]+=|\sstyle=|<link rel="stylesheet|@import|url\(/);
  expect(fields).toMatchObject({
    'Cache-Control': 'no-store',
    'Referrer-Policy': fields['Refresh'] === undefined ? 'same-origin' : 'no-referrer',
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
  });
  if (/<form[^>]* method=/.test(body)) expect(policy).toContain("form-action 'self'");
}
