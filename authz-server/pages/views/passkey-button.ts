import { type Html, html } from '#shared/pages/html.ts';

export interface PasskeyButton {
  /** `create` makes a passkey, `get` uses one. */
  readonly way: 'create' | 'get';
  /** The options of the browser's call, as JSON (WebAuthn sections 5.4 and 5.5). */
  readonly options: string;
  readonly text: string;
  /** Shown when the browser comes back without a passkey. */
  readonly failed: string;
  /** It is what the form is for. */
  readonly primary?: true;
}

/**
 * The button of a form that has an authenticator answer, and the hidden field `passkey` for the answer. The script of the
 * page (`credential-script.ts`) shows the button; without it the button would do nothing.
 */
export function passkeyButton({ way, options, text, failed, primary }: PasskeyButton): Html {
  const look = primary ? 'button primary' : 'button';
  return html`<input type="hidden" name="passkey" value="" />
    <p class="note bad" id="passkey-failed" role="alert" hidden>${failed}</p>
    <button
      class="${look}"
      type="button"
      id="passkey-button"
      data-way="${way}"
      data-options="${options}"
      hidden
    >
      ${text}
    </button>`;
}
