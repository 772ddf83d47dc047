import { type Html, html } from '#shared/pages/html.ts';

/** A sentence with names below it; nothing where there are none. */
export const namedList = (title: string, names: readonly (string | Html)[]): Html | false =>
  names.length > 0 &&
  html`<div>
    <p>${title}</p>
    <ul class="points">
      ${names.map((name) => html`<li>${name}</li>`)}
    </ul>
  </div>`;
