import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { RecoverProps, RecoveredProps, View } from '../frame/view.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';
import { form } from './form.ts';
import { newPasswordFields, newPasswordProblem } from './new-password.ts';
import { passkeyButton } from './passkey-button.ts';
import { shownProblem } from './problem.ts';
import { sign } from './sign.ts';

/** The page of a link: its holder sets a password, or makes a passkey. */
export function recoverPage(view: View, props: RecoverProps): Answer {
  const { action, name, purpose, secondFactor, options } = props;
  const { recover: texts, changePassword, passkeys } = textsOf(view.language);
  const { title, lead } = texts.purposes[purpose];
  const { passkeyProblem } = props;
  const ofPasskey =
    passkeyProblem && shownProblem(view, { kind: passkeyProblem }, passkeys.problems);
  const problem = props.problem ? newPasswordProblem(view, props.problem) : ofPasskey;
  const state =
    props.problem && problem && html` aria-describedby="${problem.id} hint" aria-invalid="true"`;
  const { nameField, passwordField } = newPasswordFields(view, name, { state, focus: true });
  return document(view, {
    ...problem,
    title: problem ? changePassword.problemTitle(title) : title,
    script: { text: CREDENTIAL_SCRIPT },
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        <p class="muted">${lead}</p>
        ${
          purpose === 'recovery' &&
          html`<p class="muted">${secondFactor ? texts.secondFactor : texts.keepsSecondFactor}</p>`
        }
      </div>
      ${problem?.note}
      ${form(
        view,
        action,
        {},
        html`${nameField} ${passwordField} <button class="button primary">${texts.submit}</button>`,
      )}
      ${
        options !== undefined &&
        form(
          view,
          action,
          {},
          passkeyButton({ way: 'create', options, text: texts.passkey, failed: passkeys.failed }),
        )
      }
    </div>`,
  });
}

/** Says that the password is set or the passkey made, and leads to where it is used. */
export function recoveredPage(view: View, { by, purpose, account }: RecoveredProps): Answer {
  const { recover, error } = textsOf(view.language);
  const texts = recover.done[by];
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      ${sign('done')}
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.purposes[purpose]}</p>
      </div>
      <div class="buttons">
        <a class="button primary" href="${account}">${error.back.account}</a>
      </div>
    </div>`,
  });
}

/** A link that was used, replaced, or is too old or mistyped. */
export function recoveryGonePage(view: View): Answer {
  const { gone } = textsOf(view.language).recover;
  return document(view, {
    status: 404,
    title: gone.title,
    content: html`<div class="card">
      ${sign('expired')}
      <div class="intro">
        <h1>${gone.title}</h1>
        <p>${gone.text}</p>
      </div>
    </div>`,
  });
}
