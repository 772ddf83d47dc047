import type { Answer } from '#shared/http/answer.ts';
import { document, type Frame, type PageContent } from './document.ts';
import { type Html, html } from './html.ts';
import type { Language } from './language.ts';

const TEXTS: Readonly<Record<Language, { readonly detail: string; readonly id: string }>> = {
  en: { detail: 'For developers', id: 'Request' },
  de: { detail: 'Für Entwickler', id: 'Anfrage' },
};

export interface ErrorContent extends Pick<PageContent, 'title' | 'head'> {
  readonly status: number;
  /** Tells a person what happened and what to do. */
  readonly text: string;
  /** The fault, for the developer of a client; shown unchanged. */
  readonly detail?: string | undefined;
  /** The id by which the operator finds the request in the log (X-Request-Id). */
  readonly id?: string | undefined;
  /** Links with which a person can continue. */
  readonly way?: Html | undefined;
}

/** Returns a page that tells a person what went wrong, with a way to continue. */
export function errorPage(frame: Frame, content: ErrorContent): Answer {
  const { status, title, head, text, detail, id, way } = content;
  const texts = TEXTS[frame.language];
  return document(frame, {
    status,
    title,
    ...(head && { head }),
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        <p>${text}</p>
      </div>
      ${
        detail !== undefined &&
        html`<div class="intro">
          <h2 class="small muted">${texts.detail}</h2>
          <pre>${detail}</pre>
        </div>`
      }
      ${way !== undefined && html`<div class="buttons">${way}</div>`} ${requestId(frame, id)}
    </div>`,
  });
}

/** Returns the line by which the operator finds the request in the log. */
export function requestId({ language }: Frame, id: string | undefined): Html | undefined {
  if (id === undefined) return undefined;
  return html`<p class="small muted">${TEXTS[language].id} <code>${id}</code></p>`;
}
