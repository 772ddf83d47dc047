import { createHash } from 'node:crypto';
import type { Answer } from '#shared/http/answer.ts';
import { cspSource } from './csp-source.ts';
import { html, styleElement } from './html.ts';
import type { Html } from './html.ts';
import { styleOf } from './style/index.ts';
import { textsOf } from './texts/index.ts';
import type { View } from './view.ts';

/** What the frame of a page says: the pages without forms need no more of a view. */
export type Frame = Pick<View, 'language' | 'brand' | 'person'>;

export interface PageContent {
  readonly title: string;
  readonly content: Html;
  /** Default 200. */
  readonly status?: number;
  /** Checked redirect URI: where a form of the page may lead in the end. */
  readonly redirectUri?: string | undefined;
  /** Seconds until it may be tried again (RFC 9110 section 10.2.3). */
  readonly retryAfter?: number | undefined;
}

/**
 * A page: without script, never framed, never stored. `Referrer-Policy: same-origin` and not
 * `no-referrer`, with which Chromium sends `Origin: null` on forms, and the check of forms refuses that.
 */
export function document(frame: Frame, page: PageContent): Answer {
  const { title, content, status = 200, redirectUri, retryAfter } = page;
  const { language, brand } = frame;
  const style = styleOf(brand.color);
  const body = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${brand.name}</title>
        ${brand.logo !== undefined && html`<link rel="icon" href="/logo" />`} ${styleElement(style)}
      </head>
      <body>
        ${head(frame)}
        <main>${content}</main>
      </body>
    </html> `;
  return {
    status,
    fields: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': language,
      'Content-Security-Policy': policy(style, redirectUri),
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...(retryAfter !== undefined && { 'Retry-After': String(Math.ceil(retryAfter)) }),
    },
    body: body.toString(),
  };
}

function head({ language, brand, person }: Frame): Html {
  const texts = textsOf(language);
  const mark =
    brand.logo === undefined
      ? html`<span class="initial" aria-hidden="true">${initial(brand.name)}</span>`
      : html`<img src="/logo" alt="" />`;
  return html`<header class="head">
    <a class="brand" href="/">${mark}<span>${brand.name}</span></a>
    ${
      person !== undefined &&
      html`<nav class="person" aria-label="${texts.yourAccount}">
        <span class="muted">${texts.youAre} <a href="/account">${person}</a></span>
        <a href="/sign-out">${texts.signOut}</a>
      </nav>`
    }
  </header>`;
}

function initial(name: string): string | undefined {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment;
}

function policy(style: string, redirectUri: string | undefined): string {
  const target = redirectUri === undefined ? undefined : cspSource(redirectUri);
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "img-src 'self'",
    `form-action 'self'${target === undefined ? '' : ` ${target}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
