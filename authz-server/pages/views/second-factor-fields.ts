import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { NewSecondFactor, View } from '../frame/view.ts';
import type { ShownProblem } from './problem.ts';
import { qr } from './qr.ts';

/** The field of a one-time code. */
export function codeField({ language }: View, problem: ShownProblem | undefined): Html {
  const { fields } = textsOf(language).secondFactor;
  const state =
    problem &&
    html` aria-describedby="${problem.id}"${problem.invalid && html` aria-invalid="true"`}`;
  return html`<div class="field">
    <label for="code">${fields.code}</label>
    <input
      class="input code"
      id="code"
      name="code"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="12"
      ${state}
      autofocus
    />
  </div>`;
}

/** The field of a recovery code, for whoever has lost their phone. */
export function recoveryField({ language }: View): Html {
  const { fields } = textsOf(language).secondFactor;
  return html`<details>
    <summary>${fields.recoveryInstead}</summary>
    <div class="field">
      <label for="recovery">${fields.recovery}</label>
      <input
        class="input code"
        id="recovery"
        name="recovery"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        maxlength="24"
        aria-describedby="recovery-hint"
      />
      <small id="recovery-hint">${fields.recoveryHint}</small>
    </div>
  </details>`;
}

/** The secret, to scan and to type, and the field of the code that shows that the app has it. */
export function setUpFields(
  view: View,
  { uri, secret }: NewSecondFactor,
  problem: ShownProblem | undefined,
): Html {
  const { fields } = textsOf(view.language).secondFactor;
  const groups = (secret.match(/.{1,4}/g) ?? []).join(' ');
  return html`<p>${fields.scan}</p>
    ${qr(uri, fields.picture)}
    <p>${fields.type} <code>${groups}</code></p>
    <p>${fields.confirm}</p>
    ${codeField(view, problem)}`;
}
