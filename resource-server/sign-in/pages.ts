import type { Config } from '#shared/config/schema.ts';
import { SIGN_OUT_PATH } from '#shared/config/sign-in-clients.ts';
import type { Answer } from '#shared/http/answer.ts';
import { type Brand, document, type Frame } from '#shared/pages/document.ts';
import { requestId } from '#shared/pages/error-page.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { languageOf } from '#shared/pages/language.ts';
import { type Message, TEXTS } from './texts.ts';

export interface PageRequest {
  /** The Accept-Language field of the request. */
  readonly language: string | undefined;
  /** The id of the log line, after an error. */
  readonly id?: string | undefined;
}

interface Said {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The links or forms by which the person continues. */
  readonly on: Html;
  readonly id?: string | undefined;
}

/** Messages to a person who has submitted a form. */
const IN_ANOTHER_TAB: ReadonlySet<Message> = new Set(['notTaken', 'notEnough']);

/**
 * The pages at an application's origin, in the reader's language. They have no script and are never framed or stored.
 */
export function createPages({ brand, issuer }: { readonly brand: Brand } & Pick<Config, 'issuer'>) {
  const frameOf = ({ language }: PageRequest): Frame => ({ brand, language: languageOf(language) });

  function page(
    frame: Frame,
    status: number,
    { title, paragraphs, on, id }: Said,
    more = {},
  ): Answer {
    return document(frame, {
      ...more,
      status,
      title,
      content: html`<div class="card">
        <div class="intro">
          <h1>${title}</h1>
          ${paragraphs.map((text) => html`<p>${text}</p> `)}
        </div>
        <div class="buttons">${on}</div>
        ${requestId(frame, id)}
      </div>`,
    });
  }

  return {
    /** A page with one message and a link to continue. */
    message(status: number, what: Message, to: PageRequest, href: string): Answer {
      const frame = frameOf(to);
      const { title, text, on } = TEXTS[frame.language][what];
      // Opens another tab, so that this one keeps its content.
      const tab = IN_ANOTHER_TAB.has(what) && html` target="_blank" rel="noopener"`;
      const way = html`<a class="button primary" href="${href}" ${tab}>${on}</a>`;
      return page(frame, status, { title, paragraphs: [text], on: way, id: to.id });
    },

    /** The page for a signed-in person, by name, whom the space does not admit. */
    forbidden(to: PageRequest, name: string): Answer {
      const frame = frameOf(to);
      const { title, text, on, as } = TEXTS[frame.language].forbidden;
      const way = html`<a class="button primary" href="${SIGN_OUT_PATH}">${on}</a>`;
      return page(frame, 403, { title, paragraphs: [as(name), text], on: way, id: to.id });
    },

    signOut(to: PageRequest): Answer {
      const frame = frameOf(to);
      const { title, text, on } = TEXTS[frame.language].signOut;
      const form = html`<form class="buttons" method="post" action="${SIGN_OUT_PATH}">
        <button class="button primary">${on}</button>
      </form>`;
      return page(frame, 200, { title, paragraphs: [text], on: form }, { forms: true });
    },

    signedOut(to: PageRequest, href: string): Answer {
      const frame = frameOf(to);
      const { title, text, on, everywhere } = TEXTS[frame.language].signedOut;
      const ways = html`<a class="button primary" href="${`${issuer}/sign-out`}">${everywhere}</a>
        <a class="button" href="${href}">${on}</a>`;
      return page(frame, 200, { title, paragraphs: [text], on: ways });
    },
  };
}

export type Pages = ReturnType<typeof createPages>;
