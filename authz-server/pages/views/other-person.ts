import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';

export interface OtherPersonProps {
  /** `expected`: the client expects another person. `rule`: the operator's rule for the client names other people. */
  readonly reason: 'expected' | 'rule';
  readonly client: string;
  /** The name of the person who is signed in. */
  readonly person: string;
  /** The URL to which the form is posted: `decision` = deny. */
  readonly action: string;
  readonly hidden?: Readonly<Record<string, string>>;
  /** Where another person can sign in. */
  readonly other: string;
}

/**
 * An application is not for the person who is signed in: it expects another person (RFC 9635 section 2.4), or the
 * operator's rule for it names other people.
 */
export function otherPersonPage(view: View, props: OtherPersonProps): Answer {
  const { reason, client, person, action, hidden = {}, other } = props;
  const texts = textsOf(view.language).otherPerson;
  return document(view, {
    title: texts.title[reason],
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title[reason]}</h1>
        <p>${texts[reason](client, person)}</p>
      </div>
      ${form(
        view,
        action,
        hidden,
        html`<div class="buttons">
          <a class="button primary" href="${other}">${texts.other}</a>
          <button name="decision" value="deny" class="button">${texts.back}</button>
        </div>`,
      )}
    </div>`,
  });
}
