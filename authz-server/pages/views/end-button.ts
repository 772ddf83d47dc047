import { type Html, html } from '#shared/pages/html.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { form } from './form.ts';

/** A button that ends something. `what` is for those who do not see beside what it stands. */
export function endButton(
  view: View,
  action: string,
  hidden: Readonly<Record<string, string>>,
  what: string,
): Html {
  const { end } = textsOf(view.language).account;
  return form(
    view,
    action,
    hidden,
    html`<button class="button slim">${end}<span class="hidden">${what}</span></button>`,
  );
}
