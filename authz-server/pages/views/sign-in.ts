import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { type Texts, textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';
import { shownProblem } from './problem.ts';
import { passkeyButton } from './passkey-button.ts';
import { clientLogo } from './client-logo.ts';
import { relative } from './times.ts';
import { CREDENTIAL_SCRIPT } from './credential-script.ts';

export interface SignInProps {
  /** The URL to which the form (`name`, `password`, and `hidden`) is posted. */
  readonly action: string;
  /** Prefilled: `login_hint`, or what was typed before. */
  readonly name?: string;
  /** Name of the client that the person is on the way to. */
  readonly client?: string;
  /** The URL of the logo of the client. */
  readonly logo?: string | undefined;
  /** Whether people set up second factors here. */
  readonly hasSecondFactors?: boolean;
  /** The way to sign in that was used last in this browser, which the page offers first. */
  readonly last?: 'passkey';
  /** The client asks for this way to sign in, or a stronger one. */
  readonly asks?: 'second-factor' | 'passkey';
  /** When the person signed in here last, if that is too long ago for what follows; milliseconds since the epoch. */
  readonly since?: number;
  /** The page of this server to which the person wants to go. */
  readonly purpose?: 'account' | 'device' | 'access' | 'admin';
  /**
   * `nothing-ended`, `nothing-changed`: the person was no longer signed in; `passkey-removed`: the passkey of this
   * sign-in was removed, which ended it; `again`, `again-...`: the next step needs a new sign-in; `not-enough`: the last
   * sign-in was too weak; `admin`: an administrator's last sign-in was too weak or too long ago.
   */
  readonly notice?:
    | 'nothing-ended'
    | 'nothing-changed'
    | 'passkey-removed'
    | 'again-for-data'
    | 'again-to-remove'
    | 'again'
    | 'not-enough'
    | 'admin';
  /** The form that gives up and returns to the client. Absent: there is no client to return to. */
  readonly cancel?: {
    readonly action: string;
    readonly hidden?: Readonly<Record<string, string>>;
  };
  readonly hidden?: Readonly<Record<string, string>>;
  /**
   * `later`: the page is 429, with the `seconds` until the next attempt is allowed. All others: the page is 422, since
   * 401 is for HTTP schemes.
   */
  readonly problem?:
    | {
        readonly kind:
          | 'wrong'
          | 'step-over'
          | 'codes-shown'
          | 'use-passkey'
          | 'passkey'
          | 'passkey-late'
          | 'passkey-copied'
          | 'arrival-over'
          | 'arrival-needs-passkey';
      }
    | { readonly kind: 'later'; readonly seconds: number };
  /** The options with which a browser asks for a passkey, as JSON (WebAuthn section 5.5); absent: none can be used here. */
  readonly passkey?: string;
  /** The URL for requesting a link for a new password by mail. Absent: there is no such page. */
  readonly forgotten?: string;
  /** The URL for making an account. Absent: there is no such page. */
  readonly register?: string;
  /** The sources at which the person may sign in. */
  readonly sources?: readonly SourceLink[];
  /** The client asks for a new account, so the page offers that first. */
  readonly isNew?: boolean;
}

/** A source at which a person may sign in. Without `href` it does not answer at the moment. */
export interface SourceLink {
  readonly title: string;
  readonly href?: string;
}

/** Asks for name and password, or for a passkey; where a client takes nothing but a passkey, for that alone. */
export function signInPage(view: View, props: SignInProps): Answer {
  const {
    action,
    client,
    logo,
    cancel,
    hidden = {},
    purpose,
    notice,
    asks,
    since,
    hasSecondFactors = false,
    passkey,
    register,
    isNew = false,
  } = props;
  const texts = textsOf(view.language).signIn;
  const problem = props.problem && shownProblem(view, props.problem, texts);
  const isWrong = props.problem?.kind === 'wrong';
  const state =
    problem && html` aria-describedby="${problem.id}"${isWrong && html` aria-invalid="true"`}`;
  return document(view, {
    ...problem,
    title: problem ? texts.problemTitle : texts.title,
    ...(logo !== undefined && { pictures: [logo] }),
    script: { text: CREDENTIAL_SCRIPT },
    content: html`<div class="card">
      <div class="intro">
        <div>
          ${clientLogo(logo)}
          <h1>${texts.title}</h1>
        </div>
        ${client !== undefined && html`<p class="muted">${texts.toContinue(client)}</p>`}
        ${purpose !== undefined && client === undefined && html`<p class="muted">${texts.purposes[purpose]}</p>`}
      </div>
      ${
        client !== undefined &&
        asks !== undefined &&
        html`<p class="note">
          ${texts.asks[asks](client)}
          ${asks === 'second-factor' && hasSecondFactors && texts.noSecondFactor}
        </p>`
      }
      ${
        since !== undefined &&
        html`<p class="note">
          ${texts.tooLongAgo(relative((since - view.now) / 1000, view.language))}
        </p>`
      }
      ${
        notice !== undefined &&
        html`<p class="note${REFUSALS.has(notice) && ' bad'}" role="alert">
          ${texts.notices[notice]}
        </p>`
      }
      ${problem?.note} ${isNew && register !== undefined && newAccount(view, register)}
      ${form(
        view,
        action,
        hidden,
        asks === 'passkey' && passkey !== undefined
          ? passkeyAlone(view, passkey)
          : fields(view, props, state),
      )}
      ${
        cancel !== undefined &&
        form(
          view,
          cancel.action,
          cancel.hidden ?? {},
          html`<button class="button">${texts.cancel}</button>`,
        )
      }
    </div>`,
  });
}

/** Leads to a new account (Initiating User Registration via OpenID Connect 1.0). */
function newAccount({ language }: View, register: string): Html {
  const texts = textsOf(language).signIn;
  return html`<div class="buttons">
      <a class="button primary" href="${register}">${texts.register}</a>
    </div>
    <p class="muted">${texts.orSignIn}</p>`;
}

/** Notices of something that was not done; the others only ask to sign in once more. */
const REFUSALS: ReadonlySet<SignInProps['notice']> = new Set([
  'nothing-ended',
  'nothing-changed',
  'not-enough',
] as const);

/** The first field that is empty has the focus. A passkey comes first in a browser where it was used last. */
function fields(
  { language }: View,
  { name = '', passkey, last, forgotten, register, isNew = false, sources = [] }: SignInProps,
  state: Html | false | undefined,
): Html {
  const texts = textsOf(language).signIn;
  const focus = html` autofocus`;
  const button =
    passkey !== undefined &&
    passkeyButton({
      way: 'get',
      options: passkey,
      text: last === 'passkey' ? texts.usePasskeyAgain : texts.usePasskey,
      failed: texts.passkeyFailed,
    });
  return html`${last === 'passkey' && button}
    <div class="field">
      <label for="name">${texts.name}</label>
      <input
        class="input"
        id="name"
        name="name"
        value="${name}"
        autocomplete="username${passkey !== undefined && ' webauthn'}"
        autocapitalize="none"
        autocorrect="off"
        spellcheck="false"
        required${state}${name === '' && focus}
      />
    </div>
    <div class="field">
      <label for="password">${texts.password}</label>
      <div class="secret">
        <input
          class="input"
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required${state}${name !== '' && focus}
        />
        <button class="button" type="button" id="reveal" aria-pressed="false" hidden>
          ${texts.show}<span class="hidden">${texts.showWhat}</span>
        </button>
      </div>
    </div>
    <button class="button primary">${texts.submit}</button>
    ${
      forgotten !== undefined &&
      html`<p class="small"><a href="${forgotten}">${texts.forgotten}</a></p>`
    }
    ${last !== 'passkey' && button} ${sources.length > 0 && sourceList(texts, sources)}
    ${
      register !== undefined &&
      !isNew &&
      html`<p class="small"><a href="${register}">${texts.register}</a></p>`
    }`;
}

/** Links, since Chromium refuses a form whose answer leads to another site (`form-action`). */
const sourceList = (texts: Texts['signIn'], sources: readonly SourceLink[]): Html =>
  html`<p class="muted">${texts.orWith}</p>
    <div class="buttons">
      ${sources.map(({ title, href }) =>
        href === undefined
          ? html`<p class="small muted">${texts.sourceDown(title)}</p> `
          : html`<a class="button" href="${href}">${texts.withSource(title)}</a> `,
      )}
    </div>`;

/** Without script, or in a browser without passkeys, a sentence says so in place of the button. */
function passkeyAlone({ language }: View, options: string): Html {
  const { signIn: texts, passkeys } = textsOf(language);
  return html`<p class="note warn" id="passkey-missing">${passkeys.missing}</p>
    ${passkeyButton({
      way: 'get',
      options,
      text: texts.usePasskey,
      failed: texts.passkeyFailed,
      primary: true,
    })}
    <p class="small muted">
      ${texts.noPasskey} <a href="/account/passkeys">${texts.makePasskey}</a>
    </p>`;
}
