import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';

/** The two ends of a question: `decision` = allow | deny. */
export function decision({ language }: View): Html {
  const { allow, deny } = textsOf(language);
  return html`<div class="buttons">
    <button class="button primary" name="decision" value="allow">${allow}</button>
    <button class="button" name="decision" value="deny">${deny}</button>
  </div>`;
}
