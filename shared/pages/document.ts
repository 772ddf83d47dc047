import { hash } from 'node:crypto';
import type { Answer } from '#shared/http/answer.ts';
import { brandColors } from '#shared/base/brand-colors.ts';
import { cspSource } from './csp-source.ts';
import { type Html, html, scriptElement, styleElement } from './html.ts';
import type { Language } from './language.ts';
import { type PageScript, scriptOf } from './page-script.ts';
import { type SpecialPart, styleOf } from './style/index.ts';

/** The look of the pages that the operator configured (`brand`). */
export interface Brand {
  readonly name: string;
  /** `#rrggbb`. */
  readonly color: string;
  /** URL of a picture: of this origin, or with the scheme `data`. */
  readonly logo?: string | undefined;
  /** The URL at which the files of `docs/` can be read; it ends in a slash. */
  readonly docs?: string | undefined;
  /** Links in the footer of every page. */
  readonly links?: readonly FootLink[];
}

/** A link of the operator's: terms, privacy, help. */
export interface FootLink {
  readonly text: { readonly en: string; readonly de?: string | undefined };
  /** An `https` URL, or a path at this origin. */
  readonly url: string;
}

const FOOT_NAMES: Readonly<Record<Language, string>> = {
  en: 'About this service',
  de: 'Über diesen Dienst',
};

/** The parts of a page around its content. */
export interface Frame {
  readonly language: Language;
  readonly brand: Brand;
}

/** The header, besides the brand, which links to `home` if there is such a page. */
export interface Head {
  readonly home?: string;
  readonly more?: Html | undefined;
  /** Below both, across the page. */
  readonly below?: Html | undefined;
}

export interface PageContent {
  readonly title: string;
  readonly content: Html;
  /** Default 200. */
  readonly status?: number;
  readonly head?: Head;
  /** True if the page has forms that are sent to its own origin. */
  readonly forms?: true;
  /** A part with a style of its own that the page has. */
  readonly part?: SpecialPart | undefined;
  /** Seconds until the person may try again (RFC 9110 section 10.2.3). */
  readonly retryAfter?: number | undefined;
  /** URLs of external pictures that the page shows. */
  readonly pictures?: readonly string[] | undefined;
  /** Joined with the scripts of the parts that the page has. */
  readonly script?: PageScript | undefined;
}

/**
 * Returns a page that cannot be framed or stored, and allows no script but its own, which makes no HTML from text.
 * The page sends `Referrer-Policy: same-origin`. With `no-referrer` Chromium sends `Origin: null` with forms, which
 * the check of forms refuses.
 */
export function document(frame: Frame, page: PageContent): Answer {
  const { title, content, status = 200, head, retryAfter } = page;
  const script = scriptOf(String(content), page.script);
  const { language, brand } = frame;
  const style = styleOf(brand.color, page.part ?? 'none');
  const icon = brand.logo ?? signOf(brand).icon;
  const body = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · ${brand.name}</title>
        <link rel="icon" href="${icon}" />
        ${styleElement(style)}
      </head>
      <body>
        <header class="head">${mark(brand, head?.home)} ${head?.more}</header>
        ${head?.below}
        <main>${content}</main>
        ${foot(frame)} ${script && scriptElement(script.text)}
      </body>
    </html> `;
  return {
    status,
    fields: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': language,
      'Content-Security-Policy': policy(style, icon, { ...page, script }),
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...(retryAfter !== undefined && { 'Retry-After': String(Math.ceil(retryAfter)) }),
    },
    body: body.toString(),
  };
}

function mark(brand: Brand, home: string | undefined): Html {
  const picture =
    brand.logo === undefined
      ? html`<span class="initial" aria-hidden="true">${signOf(brand).initial}</span>`
      : html`<img src="${brand.logo}" alt="" />`;
  const both = html`${picture}<span>${brand.name}</span>`;
  return home === undefined
    ? html`<span class="brand">${both}</span>`
    : html`<a class="brand" href="${home}">${both}</a>`;
}

function foot({ language, brand: { links = [] } }: Frame): Html | undefined {
  if (links.length === 0) return undefined;
  return html`<footer class="foot">
    <nav aria-label="${FOOT_NAMES[language]}">
      ${links.map(({ text, url }) => html`<a href="${url}">${text[language] ?? text.en}</a> `)}
    </nav>
  </footer>`;
}

/** The sign of an operator without a logo, cached, since the brand does not change while a server runs. */
let latest = { name: '', color: '', initial: '', icon: '' };

/** Returns the first letter, and an icon with this letter in the operator's color. */
function signOf({ name, color }: Brand): { readonly initial: string; readonly icon: string } {
  if (latest.name !== name || latest.color !== color) {
    const [first] = new Intl.Segmenter().segment(name);
    const initial = first?.segment ?? '';
    latest = { name, color, initial, icon: iconOf(initial, color) };
  }
  return latest;
}

/** Returns the icon as a data URL in the page, since a browser would otherwise request /favicon.ico. */
function iconOf(initial: string, color: string): string {
  const { fill, onFill } = brandColors(color);
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
    <rect width="32" height="32" rx="7" fill="${fill}" />
    <text
      x="16"
      y="23"
      font-family="system-ui,sans-serif"
      font-size="20"
      font-weight="700"
      text-anchor="middle"
      fill="${onFill}"
    >
      ${initial}
    </text>
  </svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg.toString().replaceAll(/\s+/g, ' '))}`;
}

const hashOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

function policy(style: string, icon: string, page: PageContent): string {
  const { script, forms, pictures = [] } = page;
  const shown = pictures.flatMap((picture) => cspSource(picture) ?? []);
  return [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script ? [`script-src ${hashOf(script.text)}`, "require-trusted-types-for 'script'"] : []),
    ...(script?.asks ? ["connect-src 'self'"] : []),
    `img-src ${[icon.startsWith('data:') ? 'data:' : "'self'", ...shown].join(' ')}`,
    `form-action ${forms ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
