import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';
import { form } from './form.ts';
import { newPasswordFields, newPasswordProblem, type NewPasswordProblem } from './new-password.ts';

export interface ChangePasswordProps {
  /** The URL to which the form is posted: `current`, `password`, and `others` = end. */
  readonly action: string;
  /** The URL of the page to return to without a change. */
  readonly back: string;
  readonly name: string;
  /** Whether there is an old one, which is asked for. */
  readonly hasPassword: boolean;
  /** Whether the box is ticked that ends the other sign-ins. */
  readonly endsOthers: boolean;
  readonly problem?: NewPasswordProblem;
}

/** Asks for the old password, if there is one, and for a new one. */
export function changePasswordPage(view: View, props: ChangePasswordProps): Answer {
  const { action, back, name, hasPassword, endsOthers } = props;
  const { changePassword: texts } = textsOf(view.language);
  const problem = props.problem && newPasswordProblem(view, props.problem);
  const state =
    problem &&
    html` aria-describedby="${problem.id} hint"${problem.invalid && html` aria-invalid="true"`}`;
  const isWrong = props.problem?.kind === 'wrong';
  const { nameField, passwordField } = newPasswordFields(view, name, {
    state: isWrong ? undefined : state,
    focus: !hasPassword,
  });
  const title = hasPassword ? texts.title : texts.firstTitle;
  return document(view, {
    ...problem,
    title: problem ? texts.problemTitle(title) : title,
    script: { text: CREDENTIAL_SCRIPT },
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        <p class="muted">${texts.lead}</p>
      </div>
      ${problem?.note}
      ${form(
        view,
        action,
        {},
        html`${nameField}
          ${
            hasPassword &&
            html`<div class="field">
              <label for="current">${texts.current}</label>
              <input
                class="input"
                id="current"
                name="current"
                type="password"
                autocomplete="current-password"
                required${isWrong && html` aria-describedby="problem" aria-invalid="true"`}
                autofocus
              />
            </div>`
          }
          ${passwordField}
          <div class="items">
            <label
              ><input type="checkbox" name="others" value="end" ${endsOthers && html` checked`} />
              <span>${texts.endOthers}</span> <small>${texts.endOthersText}</small></label
            >
          </div>
          <button class="button primary">${title}</button>`,
      )}
      <div class="buttons"><a class="button" href="${back}">${texts.back}</a></div>
    </div>`,
  });
}
