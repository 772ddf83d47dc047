import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';
import { endCard } from './end-card.ts';
import { form } from './form.ts';
import { newPasswordFields, newPasswordProblem } from './new-password.ts';
import { passkeyButton } from './passkey-button.ts';
import { shownProblem } from './problem.ts';
import type { PasswordFault } from '#shared/people/password-rules.ts';
import type { PasskeysProps } from '../frame/account-view.ts';

export interface RecoverProps {
  /** The URL to which the forms are posted: `password`, or `passkey`. */
  readonly action: string;
  readonly name: string;
  readonly purpose: 'invitation' | 'recovery';
  /** The second factor is removed as well. */
  readonly secondFactor: boolean;
  /** The options with which a browser makes a passkey, as JSON; absent: the link makes none. */
  readonly options?: string;
  readonly problem?: { readonly kind: PasswordFault };
  readonly passkeyProblem?: PasskeysProps['problem'];
}

export interface RecoveredProps {
  readonly by: 'password' | 'passkey';
  readonly purpose: 'invitation' | 'recovery';
  /** The URL for signing in. */
  readonly account: string;
}

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
  return endCard(view, {
    sign: 'done',
    title: texts.title,
    text: texts.purposes[purpose],
    on: { href: account, text: error.back.account, primary: true },
  });
}

/** A link that was used, replaced, or is too old or mistyped. */
export function recoveryGonePage(view: View): Answer {
  const { recover } = textsOf(view.language);
  const { signIn, ...texts } = recover.gone;
  return endCard(view, {
    status: 404,
    sign: 'expired',
    ...texts,
    on: { href: '/account', text: signIn },
  });
}
