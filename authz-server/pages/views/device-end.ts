import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { DeviceEndProps, View } from '../frame/view.ts';
import { facts } from './facts.ts';
import { sign } from './sign.ts';

/** 410 for a code that has ended (RFC 9110 section 15.5.11). */
const STATUS = { done: 200, denied: 200, expired: 410 } as const;

/** How it ended, and where to go on. */
export function deviceEndPage(view: View, { end, client, again }: DeviceEndProps): Answer {
  const all = textsOf(view.language);
  const texts = all.deviceEnd;
  return document(view, {
    status: STATUS[end],
    title: texts[end].title,
    content: html`<div class="card">
      ${sign(end)}
      <div class="intro">
        <h1>${texts[end].title}</h1>
        <p>${texts[end].text}</p>
      </div>
      ${client !== undefined && facts([[texts.application, client]])}
      <div class="buttons">
        ${
          end === 'done'
            ? html`<a class="button" href="/account">${texts.account}</a>`
            : html`<a class="button" href="${again}">${texts.again}</a>`
        }
      </div>
    </div>`,
  });
}
