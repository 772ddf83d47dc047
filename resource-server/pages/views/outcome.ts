import type { Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';

/** The meaning of an answer: `asked` is one to a request without credentials, `continued` one between two messages. */
export interface Outcome {
  readonly kind: 'accepted' | 'continued' | 'asked' | 'refused';
  /** Why it is refused, in English. */
  readonly why?: string | undefined;
}

const LOOKS: Readonly<Record<Outcome['kind'], string>> = {
  accepted: 'note good',
  continued: 'note',
  asked: 'note',
  refused: 'note bad',
};

/** One line that says what an answer means. */
export function outcomeLine({ language }: Frame, { kind, why }: Outcome): Html {
  const word = textsOf(language).playground.outcomes[kind];
  const reason = kind === 'refused' && why !== undefined && html` <span lang="en">${why}</span>`;
  return html`<p class="${LOOKS[kind]}"><strong>${word}</strong>${reason}</p>`;
}
