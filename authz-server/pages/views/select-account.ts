import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';

export interface SelectAccountProps {
  readonly client: string;
  /** The name of the person who is signed in. */
  readonly person: string;
  /** The URL to which the form is posted that goes on with this account. */
  readonly action: string;
  /** Where another person can sign in. */
  readonly other: string;
  /** The URL to which the form is posted that gives up and returns to the client. */
  readonly cancel: string;
}

/** Asks which account a client gets (`prompt=select_account`, OpenID Connect Core 1.0 section 3.1.2.1). */
export function selectAccountPage(view: View, props: SelectAccountProps): Answer {
  const { client, person, action, other, cancel } = props;
  const texts = textsOf(view.language).selectAccount;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text(client, person)}</p>
      </div>
      ${form(
        view,
        action,
        {},
        html`<div class="buttons">
          <button class="button primary">${texts.goOn(person)}</button>
          <a class="button" href="${other}">${texts.other}</a>
        </div>`,
      )}
      ${form(view, cancel, {}, html`<button class="button">${texts.cancel}</button>`)}
    </div>`,
  });
}
