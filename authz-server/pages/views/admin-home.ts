import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import type { AdminHomeProps } from '../frame/admin-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** Where administrators begin: everything that they can do, in groups. */
export function adminHomePage(view: View, { name, groups }: AdminHomeProps): Answer {
  const texts = textsOf(view.language).admin;
  return document(view, {
    title: texts.title,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead(name)}</p>
      </div>
      ${groups.map(
        ({ name: group, title, text, links }) =>
          html`<section aria-labelledby="${group}">
            <h2 id="${group}">${title}</h2>
            ${text !== undefined && html`<p>${text}</p>`}
            <ul class="points">
              ${links.map(({ href, text: to }) => html`<li><a href="${href}">${to}</a></li> `)}
            </ul>
          </section> `,
      )}
    </div>`,
  });
}
