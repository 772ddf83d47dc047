import type { Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';

/** The links from the list of exchanges to a page. */
export function crumbsTo(
  { language }: Frame,
  { list, index }: { readonly list: string; readonly index: string },
  here: string,
): Html {
  return html`<nav class="crumbs" aria-label="${textsOf(language).playground.path}">
    <ol>
      <li><a href="${index}">${list}</a></li>
      <li><span aria-current="page">${here}</span></li>
    </ol>
  </nav>`;
}
