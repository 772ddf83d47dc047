import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { OtherPersonProps, View } from '../frame/view.ts';
import { form } from './form.ts';

/** An application expects somebody else than who is signed in (RFC 9635 section 2.4). */
export function otherPersonPage(view: View, { action, client }: OtherPersonProps): Answer {
  const texts = textsOf(view.language).otherPerson;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text(client)}</p>
      </div>
      ${form(
        view,
        action,
        {},
        html`<div class="buttons">
          <a class="button" href="/sign-out">${textsOf(view.language).signOut}</a>
          <button name="decision" value="deny" class="button">${texts.deny}</button>
        </div>`,
      )}
    </div>`,
  });
}
