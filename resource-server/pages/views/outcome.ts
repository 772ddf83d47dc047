import type { Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';

/**
 * The meaning of an answer.
 * `asked`: the request had no credentials. `continued`: the scheme needs another message. `pending`: the client must
 * ask again later. `away`: the server checks nothing at the moment.
 */
export interface Outcome {
  readonly kind: 'accepted' | 'continued' | 'asked' | 'pending' | 'away' | 'refused';
  /** The failed check, in English, as the state in which it would have passed. */
  readonly check?: string | undefined;
  /** The reason of the refusal, in English. */
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

/** A line that says what an answer means. `more`: added at its end. */
export function outcomeLine({ language }: Frame, outcome: Outcome, more?: Html): Html {
  const { outcomes, failed, reason } = textsOf(language).playground;
  const { kind, check, why } = outcome;
  return html`<p class="${LOOKS[kind]}">
    <strong>${outcomes[kind]}</strong>
    ${check !== undefined && html`${failed} <span lang="en">“${check}”</span><br />${reason}`}
    ${why !== undefined && html`<span lang="en">${why}</span>`} ${more}
  </p>`;
}
