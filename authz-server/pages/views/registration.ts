import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';
import { addressField } from './address-field.ts';
import { endCard } from './end-card.ts';
import { form } from './form.ts';
import { formCard } from './form-card.ts';
import { newPasswordFields } from './new-password.ts';
import { passkeyButton } from './passkey-button.ts';
import { shownProblem } from './problem.ts';
import type { PasswordFault } from '#shared/people/password-rules.ts';

export interface AskToRegisterProps {
  /** The URL to which the form is posted: `address`. */
  readonly action: string;
  readonly back: string;
  /** The address that was typed before. */
  readonly typed?: string;
  readonly problem?:
    | { readonly kind: 'address' }
    | { readonly kind: 'later'; readonly seconds: number };
}

export interface RegisterProps {
  /** The URL to which the form is posted: `name`, and `password` or `passkey`. */
  readonly action: string;
  /** Absent: the page is for the first administrator. */
  readonly address?: string;
  /** The name that was typed before. */
  readonly name?: string;
  /** The options with which a browser makes a passkey, as JSON; absent: none can be made here. */
  readonly options?: string;
  readonly problem?: { readonly kind: 'name' | 'taken' | 'failed' | 'late' | PasswordFault };
}

/** Asks for the address of somebody who wants an account. */
export function askToRegisterPage(view: View, props: AskToRegisterProps): Answer {
  const { action, back, typed = '' } = props;
  const texts = textsOf(view.language).registration;
  const problem = props.problem && shownProblem(view, props.problem, texts.problems);
  return formCard(view, {
    title: texts.title,
    problemTitle: texts.problemTitle,
    lead: texts.lead,
    problem,
    form: form(
      view,
      action,
      {},
      html`${addressField({ label: texts.address, typed, problem, focus: true })}
        <button class="button primary">${texts.send}</button>`,
    ),
    back: { href: back, text: texts.back },
  });
}

/** The same for everybody: it does not say who has an account. */
export function registrationSentPage(
  view: View,
  { back }: Pick<AskToRegisterProps, 'back'>,
): Answer {
  const { sent, back: text } = textsOf(view.language).registration;
  return endCard(view, {
    sign: 'done',
    title: sent.title,
    text: sent.text,
    more: sent.none,
    on: { href: back, text },
  });
}

/** The page of a link: its holder chooses a name, and a password or a passkey. */
export function registerPage(view: View, props: RegisterProps): Answer {
  const { action, address, name = '', options } = props;
  const { registration: texts, newPassword, passkeys, signIn } = textsOf(view.language);
  const sentences = { ...passkeys.problems, ...newPassword.problems, ...texts.problems };
  const problem = props.problem && shownProblem(view, props.problem, sentences);
  const isName = props.problem?.kind === 'name' || props.problem?.kind === 'taken';
  const state = problem && html` aria-describedby="${problem.id} name-hint" aria-invalid="true"`;
  const { passwordField } = newPasswordFields(view, name, {
    state: problem && !isName ? html` aria-describedby="${problem.id} hint"` : undefined,
    focus: problem !== undefined && !isName,
  });
  return formCard(view, {
    title: texts.title,
    problemTitle: texts.problemTitle,
    lead: address === undefined ? texts.finish.leadOfFirst : texts.finish.lead(address),
    problem,
    script: { text: CREDENTIAL_SCRIPT },
    form: form(
      view,
      action,
      {},
      html`<div class="field">
          <label for="name">${signIn.name}</label>
          <input
            class="input"
            id="name"
            name="name"
            value="${name}"
            autocomplete="username"
            autocapitalize="none"
            autocorrect="off"
            spellcheck="false"
            maxlength="64"
            required${isName ? state : html` aria-describedby="name-hint"`}${(problem === undefined || isName) && html` autofocus`}
          />
          <p class="small muted" id="name-hint">${texts.finish.nameHint}</p>
        </div>
        ${passwordField}
        <button class="button primary">${texts.finish.submit}</button>
        ${
          options !== undefined &&
          passkeyButton({
            way: 'create',
            options,
            text: texts.finish.passkey,
            failed: passkeys.failed,
          })
        }`,
    ),
  });
}

/** Says that the account is made, and leads to where its holder signs in. */
export function registeredPage(
  view: View,
  { name, account }: { readonly name: string; readonly account: string },
): Answer {
  const { registration, error } = textsOf(view.language);
  return endCard(view, {
    sign: 'done',
    title: registration.done.title,
    text: registration.done.text(name),
    on: { href: account, text: error.back.account, primary: true },
  });
}

/** A link that was used, replaced, or is too old or mistyped. */
export function registrationGonePage(view: View): Answer {
  const { signIn, ...texts } = textsOf(view.language).registration.gone;
  return endCard(view, {
    status: 404,
    sign: 'expired',
    ...texts,
    on: { href: '/account', text: signIn },
  });
}
