import type { Brand } from './document.ts';
import { type Html, html } from './html.ts';

/** A file below `docs/`: a link if the operator configured where the documents are, else its path. */
export function docsLink({ docs }: Brand, file: string): Html {
  const name = html`<code>docs/${file}</code>`;
  return docs === undefined ? name : html`<a href="${docs + file}">${name}</a>`;
}

/** The document with which the developer of a client begins. */
export const TUTORIAL = 'tutorials/first-ten-minutes.md';
