import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';

export interface SignOutProps {
  /** The URL to which the form is posted, with `hidden` and, to sign out, `logout` = yes. */
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  /** Name of the client that asked for it. */
  readonly client?: string;
}

/** Asks before signing out (OpenID Connect RP-Initiated Logout 1.0 section 2). */
export function signOutPage(view: View, props: SignOutProps): Answer {
  const { action, hidden, client } = props;
  const { signOut, signOutPage: texts } = textsOf(view.language);
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        ${client !== undefined && html`<p>${texts.asked(client)}</p>`}
        <p>${texts.lead}</p>
      </div>
      ${form(
        view,
        action,
        hidden,
        html`<div class="buttons">
          <button class="button primary" name="logout" value="yes">${signOut}</button>
          <button class="button">${texts.stay}</button>
        </div>`,
      )}
    </div>`,
  });
}
