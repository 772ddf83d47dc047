import { type Html, html } from '#shared/pages/html.ts';

/** A sentence about an answer, in English. */
export interface Remark {
  readonly text: string;
  /** The URL of a page about it. */
  readonly see: string | undefined;
}

export const remarkNote = ({ text, see }: Remark): Html =>
  html`<p class="note" lang="en">
    ${text}${see !== undefined && html` <a href="${see}">${see}</a>`}
  </p>`;
