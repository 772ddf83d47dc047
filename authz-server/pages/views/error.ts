import type { Answer } from '#shared/http/answer.ts';
import { errorPage as page } from '#shared/pages/error-page.ts';
import { html } from '#shared/pages/html.ts';
import { headOf } from '../frame/shell.ts';
import type { Frame } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { ErrorProps } from '../frame/view.ts';

/** Tells a person what went wrong, with a way on. */
export function errorPage(frame: Frame, { kind, back, ...shown }: ErrorProps): Answer {
  const { back: ways, [kind]: words } = textsOf(frame.language).error;
  const way = back && html`<a class="button primary" href="${back.href}">${ways[back.text]}</a>`;
  return page(frame, { ...shown, ...words, way, head: headOf(frame) });
}
