import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { AccessEndProps, View } from '../frame/view.ts';
import { facts } from './facts.ts';
import { sign } from './sign.ts';

/** How a request ended whose client hears of it by itself. */
export function accessEndPage(view: View, { end, client }: AccessEndProps): Answer {
  const { accessEnd, deviceEnd } = textsOf(view.language);
  const texts = accessEnd[end];
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      ${sign(end)}
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text}</p>
      </div>
      ${facts([[deviceEnd.application, client]])}
      <div class="buttons"><a class="button" href="/account">${deviceEnd.account}</a></div>
    </div>`,
  });
}
