import type { Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';

/**
 * The meaning of an answer: `asked` is one to a request without credentials, `continued` one between two messages, `pending`
 * one to a client that has to ask again later, and `away` one of a server that looks at nothing now.
 */
export interface Outcome {
  readonly kind: 'accepted' | 'continued' | 'asked' | 'pending' | 'away' | 'refused';
  /** The check that failed, in English: the state in which it would have passed. */
  readonly check?: string | undefined;
  /** Why it is refused, in English. */
  readonly why?: string | undefined;
}

const LOOKS: Readonly<Record<Outcome['kind'], string>> = {
  accepted: 'note good',
  continued: 'note',
  asked: 'note',
  pending: 'note',
  away: 'note',
  refused: 'note bad',
};

/** One line that says what an answer means. `more`: what stands at its end. */
export function outcomeLine({ language }: Frame, outcome: Outcome, more?: Html): Html {
  const { outcomes, failed, reason } = textsOf(language).playground;
  const { kind, check, why } = outcome;
  return html`<p class="${LOOKS[kind]}">
    <strong>${outcomes[kind]}</strong>
    ${check !== undefined && html`${failed} <span lang="en">“${check}”</span><br />${reason}`}
    ${why !== undefined && html`<span lang="en">${why}</span>`} ${more}
  </p>`;
}
