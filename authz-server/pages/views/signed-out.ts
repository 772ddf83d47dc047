import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { sign } from './sign.ts';

export function signedOutPage(view: View): Answer {
  const texts = textsOf(view.language).signedOut;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      ${sign('done')}
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text}</p>
      </div>
      <div class="buttons"><a class="button" href="/account">${texts.signIn}</a></div>
    </div>`,
  });
}
