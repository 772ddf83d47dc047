import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

export interface DataProps {
  /** The URL of the file with the data. */
  readonly file: string;
  /** The URL of the page that deletes the account. Absent: the operator does not allow it. */
  readonly removal?: string;
  readonly back: string;
}

/** Says what the server keeps about a person, and leads to the file and to the end of the account. */
export function dataPage(view: View, { file, removal, back }: DataProps): Answer {
  const texts = textsOf(view.language).data;
  return document(view, {
    title: texts.title,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.lead}</p>
        <p class="muted">${texts.format} ${texts.documents}</p>
      </div>
      <p class="buttons">
        <a class="button primary" href="${file}">${texts.download}</a>
        <a class="button" href="${back}">${texts.back}</a>
      </p>
      ${
        removal !== undefined &&
        html`<section class="panel" aria-labelledby="removal">
          <h2 id="removal">${texts.removal}</h2>
          <p>${texts.removalText}</p>
          <p><a class="button danger" href="${removal}">${texts.removal}</a></p>
        </section>`
      }
    </div>`,
  });
}
