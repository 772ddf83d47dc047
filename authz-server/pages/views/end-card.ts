import type { Answer } from '#shared/http/answer.ts';
import { html, type Html, type HtmlValue } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';

/** How something has ended, and the one way on if there is one. */
export interface EndCard {
  readonly sign: Parameters<typeof sign>[0];
  readonly title: string;
  readonly text: HtmlValue;
  /** More, below the text and less prominent. */
  readonly more?: HtmlValue;
  readonly facts?: HtmlValue;
  readonly on?: { readonly href: string; readonly text: string; readonly primary?: boolean };
  readonly status?: number;
}

/** A small card with a sign, a sentence and one button at most. */
export function endCard(view: View, card: EndCard): Answer {
  const { title, text, more, facts, on, status } = card;
  return document(view, {
    ...(status !== undefined && { status }),
    title,
    content: html`<div class="card">
      ${sign(card.sign)}
      <div class="intro">
        <h1>${title}</h1>
        <p>${text}</p>
        ${more !== undefined && html`<p class="muted">${more}</p>`}
      </div>
      ${facts}
      ${
        on &&
        html`<div class="buttons">
          <a class="button${on.primary && ' primary'}" href="${on.href}">${on.text}</a>
        </div>`
      }
    </div>`,
  });
}

const STROKES = {
  done: 'M5 12.5l4.5 4.5L19 7.5',
  denied: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  expired: 'M12 3.5a8.5 8.5 0 1 0 0 17a8.5 8.5 0 1 0 0-17M12 7.5V12l3 2',
} as const;

/** A small picture of how it ended, beside the words that say so. */
function sign(end: keyof typeof STROKES): Html {
  return html`<span class="sign ${end}" aria-hidden="true"
    ><svg viewBox="0 0 24 24" focusable="false"><path d="${STROKES[end]}" /></svg
  ></span>`;
}
