import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { shownProblem, type ShownProblem } from './problem.ts';
import type { PasswordFault } from '#shared/people/password-rules.ts';

/** The fault of a form for a new password. `wrong`: that of the old one; the others name the rule that the new one breaks. */
export type NewPasswordProblem =
  | { readonly kind: 'wrong' | 'same' | PasswordFault }
  | { readonly kind: 'later'; readonly seconds: number };

/** The note of a form for a new password that was refused. */
export const newPasswordProblem = (view: View, problem: NewPasswordProblem): ShownProblem =>
  shownProblem(view, problem, textsOf(view.language).newPassword.problems);

/** The fields for the name, which a password manager keeps the password under, and for a new password. */
export function newPasswordFields(
  { language }: View,
  name: string,
  { state, focus }: { readonly state: Html | undefined; readonly focus: boolean },
): { readonly nameField: Html; readonly passwordField: Html } {
  const { signIn, newPassword: texts } = textsOf(language);
  return {
    nameField: html`<div class="field">
      <label for="name">${signIn.name}</label>
      <input class="input" id="name" value="${name}" autocomplete="username" readonly />
    </div>`,
    passwordField: html`<div class="field">
      <label for="password">${texts.label}</label>
      <div class="secret">
        <input
          class="input"
          id="password"
          name="password"
          type="password"
          autocomplete="new-password"
          required${state ?? html` aria-describedby="hint"`}${focus && html` autofocus`}
        />
        <button class="button" type="button" id="reveal" aria-pressed="false" hidden>
          ${signIn.show}<span class="hidden">${signIn.showWhat}</span>
        </button>
      </div>
      <p class="small muted" id="hint">${texts.hint}</p>
    </div>`,
  };
}
