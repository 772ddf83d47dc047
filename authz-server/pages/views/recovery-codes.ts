import type { Answer } from '#shared/http/answer.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';

export interface RecoveryCodesProps {
  /** As they are read. */
  readonly codes: readonly string[];
  /** The URL of the next page. */
  readonly goOn: string;
  /** The codes replace earlier ones of the same second factor. */
  readonly renewed?: true;
}

/** The recovery codes, once. */
export function recoveryCodesPage(
  view: View,
  { codes, goOn, renewed }: RecoveryCodesProps,
): Answer {
  const texts = textsOf(view.language).secondFactor.codes;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${renewed ? texts.renewed : texts.lead}</p>
      </div>
      ${copyable(
        view.language,
        html`<ul class="codes">
          ${codes.map((code) => html`<li><code>${code}</code></li> `)}
        </ul>`,
        texts.title,
      )}
      <div class="buttons"><a class="button primary" href="${goOn}">${texts.goOn}</a></div>
    </div>`,
  });
}
