import type { Answer } from '#shared/http/answer.ts';
import { html } from '../html.ts';
import { document } from '../shell.ts';
import type { Frame } from '../shell.ts';
import { textsOf } from '../texts/index.ts';
import type { ErrorProps } from '../view.ts';

/** What went wrong, in words for a person, with a way on; `detail` is for the client's developer. */
export function errorPage(frame: Frame, { status, kind, detail, back }: ErrorProps): Answer {
  const texts = textsOf(frame.language).error;
  return document(frame, {
    status,
    title: texts[kind].title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts[kind].title}</h1>
        <p>${texts[kind].text}</p>
      </div>
      ${
        detail !== undefined &&
        html`<div class="intro">
          <h2 class="small muted">${texts.detail}</h2>
          <pre>${detail}</pre>
        </div>`
      }
      ${
        back !== undefined &&
        html`<div class="buttons">
          <a class="button primary" href="${back.href}">${texts.back[back.text]}</a>
        </div>`
      }
    </div>`,
  });
}
