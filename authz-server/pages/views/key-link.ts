import type { Answer } from '#shared/http/answer.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { KeyLinkProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';

/** The link by which a browser is given a key, to be opened here or on another device. */
export function keyLinkPage(view: View, { link, back }: KeyLinkProps): Answer {
  const texts = textsOf(view.language).keyLink;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text}</p>
      </div>
      ${copyable(view.language, html`<a href="${link}">${link}</a>`, texts.title)}
      <p class="muted">${texts.warning}</p>
      <div class="buttons"><a class="button" href="${back}">${texts.back}</a></div>
    </div>`,
  });
}
