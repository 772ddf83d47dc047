import { type Html, html } from '#shared/pages/html.ts';
import type { ShownProblem } from './problem.ts';

/** The field in which somebody types an e-mail address. */
export function addressField({
  label,
  typed,
  problem,
  focus,
}: {
  readonly label: string;
  readonly typed: string;
  readonly problem?: Pick<ShownProblem, 'id' | 'invalid'> | undefined;
  /** It is what the page is for. */
  readonly focus?: true;
}): Html {
  return html`<div class="field">
    <label for="address">${label}</label>
    <input
      class="input"
      id="address"
      name="address"
      type="email"
      value="${typed}"
      autocomplete="email"
      required${problem && html` aria-describedby="${problem.id}"${problem.invalid && html` aria-invalid="true"`}`}${focus && html` autofocus`}
    />
  </div>`;
}
