import { html } from '#shared/pages/html.ts';
import type { Html, HtmlValue } from '#shared/pages/html.ts';

/** Names and values; those without a value are left out. */
export function facts(rows: readonly (readonly [string, HtmlValue])[]): Html {
  const written = rows.map(
    ([name, value]) =>
      value !== undefined &&
      html`<dt>${name}</dt>
        <dd>${value}</dd> `,
  );
  return html`<dl class="facts">${written}</dl>`;
}
