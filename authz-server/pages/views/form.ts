import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import type { View } from '../frame/view.ts';

/** A form that changes something: with the proof that it came from a page of ours. */
export function form(
  { csrf }: View,
  action: string,
  hidden: Readonly<Record<string, string>>,
  content: Html,
): Html {
  const fields = Object.entries({ csrf, ...hidden }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  return html`<form class="stack" method="post" action="${action}">${fields}${content}</form>`;
}
