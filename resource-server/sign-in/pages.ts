import { createHash } from 'node:crypto';
import Negotiator from 'negotiator';
import { type BrandColors, brandColors } from '#shared/base/brand-colors.ts';
import type { Config } from '#shared/config/schema.ts';
import { SIGN_OUT_PATH } from '#shared/config/sign-in-clients.ts';
import type { Answer } from '#shared/http/answer.ts';
import { escapeHtml } from '#shared/http/page.ts';
import { type Language, type Message, TEXTS } from './texts.ts';

const styleOf = ({ fill, onFill }: BrandColors) => `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; background: light-dark(#f3f4f6, #16181d); color: light-dark(#1b1d22, #e8eaee); }
body { max-width: 30rem; margin: 0 auto; padding: 1.5rem 1rem; overflow-wrap: anywhere; }
header { margin-bottom: 1.5rem; font-weight: 600; }
main { padding: 1.5rem; border: 1px solid light-dark(#d9dce2, #343842); border-radius: .75rem; background: light-dark(#fff, #1f2229); }
h1 { margin: 0 0 .75rem; font-size: 1.375rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.button { padding: .5rem 1rem; border: 1px solid ${fill}; border-radius: .5rem; font: inherit; color: inherit; background: none; text-decoration: none; cursor: pointer; }
.primary { background: ${fill}; color: ${onFill}; }
.button:focus-visible { outline: 3px solid currentcolor; outline-offset: 2px; }
`;

/** Where a page leads. */
interface Way {
  readonly href: string;
  readonly text: string;
  readonly primary?: boolean;
  /** In another tab, so that this one keeps what it has. */
  readonly elsewhere?: boolean;
}

export interface PageRequest {
  /** Of the request: Accept-Language. */
  readonly language: string | undefined;
}

/** The pages at an application's origin, in the language of who reads them. No script, never framed, never stored. */
export function createPages({ brand, issuer }: Pick<Config, 'brand' | 'issuer'>) {
  const style = styleOf(brandColors(brand.color));
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  function page(
    status: number,
    language: Language,
    said: { readonly title: string; readonly paragraphs: readonly string[]; readonly on: string },
  ): Answer {
    const title = escapeHtml(said.title);
    const body = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${escapeHtml(brand.name)}</title>
<style>${style}</style>
</head>
<body>
<header>${escapeHtml(brand.name)}</header>
<main>
<h1>${title}</h1>
${said.paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n')}
<div class="buttons">${said.on}</div>
</main>
</body>
</html>
`;
    return {
      status,
      fields: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Language': language,
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        // Not `no-referrer`, with which Chromium sends `Origin: null` with forms.
        'Referrer-Policy': 'same-origin',
        'Cache-Control': 'no-store',
      },
      body,
    };
  }

  return {
    /** One thing to say, and a way on. */
    message(status: number, what: Message, to: PageRequest, href: string): Answer {
      const language = languageOf(to);
      const { title, text, on } = TEXTS[language][what];
      const way = { href, text: on, primary: true, elsewhere: what === 'notTaken' };
      return page(status, language, { title, paragraphs: [text], on: link(way) });
    },

    /** To who is signed in, by that name, and may not enter. */
    forbidden(to: PageRequest, name: string): Answer {
      const language = languageOf(to);
      const { title, text, on, as } = TEXTS[language].forbidden;
      const way = link({ href: SIGN_OUT_PATH, text: on, primary: true });
      return page(403, language, { title, paragraphs: [as(name), text], on: way });
    },

    signOut(to: PageRequest): Answer {
      const language = languageOf(to);
      const { title, text, on } = TEXTS[language].signOut;
      const form = `<form method="post" action="${SIGN_OUT_PATH}"><button class="button primary">${escapeHtml(on)}</button></form>`;
      return page(200, language, { title, paragraphs: [text], on: form });
    },

    signedOut(to: PageRequest, href: string): Answer {
      const language = languageOf(to);
      const { title, text, on, everywhere } = TEXTS[language].signedOut;
      const ways = [
        { href: `${issuer}/sign-out`, text: everywhere, primary: true },
        { href, text: on },
      ];
      return page(200, language, { title, paragraphs: [text], on: ways.map(link).join('\n') });
    },
  };
}

export type Pages = ReturnType<typeof createPages>;

function link({ href, text, primary, elsewhere }: Way): string {
  const kind = primary ? 'button primary' : 'button';
  const tab = elsewhere ? ' target="_blank" rel="noopener"' : '';
  return `<a class="${kind}" href="${escapeHtml(href)}"${tab}>${escapeHtml(text)}</a>`;
}

function languageOf({ language }: PageRequest): Language {
  const headers = { 'accept-language': language };
  const [best] = new Negotiator({ headers }).languages(Object.keys(TEXTS));
  return best === 'de' ? 'de' : 'en';
}
