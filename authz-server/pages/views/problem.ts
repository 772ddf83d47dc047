import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import type { PageContent } from '#shared/pages/document.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { relative } from './times.ts';

interface Later {
  readonly kind: 'later';
  readonly seconds: number;
}

/** How a form says what was wrong with it: before its fields, and tied to them. */
export interface ShownProblem extends Pick<PageContent, 'status' | 'retryAfter'> {
  /** For `aria-describedby`. */
  readonly id: string;
  readonly note: Html;
  /** The fields are to be changed, and not only to be sent again. */
  readonly invalid: boolean;
}

export function shownProblem<Kind extends string>(
  { language }: View,
  problem: { readonly kind: Kind } | Later,
  sentences: Readonly<Record<Kind | 'later', string>>,
): ShownProblem {
  const id = 'problem';
  const note = (text: string) => html`<p class="note bad" id="${id}" role="alert">${text}</p>`;
  if (!isLater(problem)) {
    return { id, note: note(sentences[problem.kind]), invalid: true, status: 422 };
  }
  const again = textsOf(language).tryAgain(relative(problem.seconds, language));
  return {
    id,
    note: note(`${sentences.later} ${again}`),
    invalid: false,
    status: 429,
    retryAfter: problem.seconds,
  };
}

function isLater(problem: { readonly kind: string }): problem is Later {
  return problem.kind === 'later';
}
