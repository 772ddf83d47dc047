import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import type { PageContent } from '#shared/pages/document.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { relative } from './times.ts';

/** How a form says what was wrong with it: before its fields, and tied to them. `seconds`: until it may be sent again. */
export interface ShownProblem extends Pick<PageContent, 'status' | 'retryAfter'> {
  /** For `aria-describedby`. */
  readonly id: string;
  readonly note: Html;
  /** The fields are to be changed, and not only to be sent again. */
  readonly invalid: boolean;
}

export function shownProblem<Kind extends string>(
  { language }: View,
  { kind, seconds }: { readonly kind: Kind; readonly seconds?: number },
  sentences: Readonly<Record<Kind, string>>,
): ShownProblem {
  const id = 'problem';
  const note = (text: string) => html`<p class="note bad" id="${id}" role="alert">${text}</p>`;
  if (seconds === undefined) {
    return { id, note: note(sentences[kind]), invalid: true, status: 422 };
  }
  const again = textsOf(language).tryAgain(relative(seconds, language));
  return {
    id,
    note: note(`${sentences[kind]} ${again}`),
    invalid: false,
    status: 429,
    retryAfter: seconds,
  };
}
