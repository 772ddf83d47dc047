import type { Answer } from '#shared/http/answer.ts';
import type { PageContent } from '#shared/pages/document.ts';
import { html, type HtmlValue } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import type { ShownProblem } from './problem.ts';

/** A form with its title, and the way back. */
export interface FormCard {
  readonly title: string;
  /** The title of the window while there is a problem, for those who hear it first. Undefined: the same. */
  readonly problemTitle?: string;
  readonly lead: HtmlValue;
  readonly problem?: ShownProblem | undefined;
  readonly form: HtmlValue;
  readonly back?: { readonly href: string; readonly text: string };
  readonly script?: PageContent['script'];
}

/** A small card with one form. */
export function formCard(view: View, card: FormCard): Answer {
  const { title, problemTitle = title, lead, problem, back, script } = card;
  return document(view, {
    ...problem,
    title: problem ? problemTitle : title,
    ...(script && { script }),
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        <p class="muted">${lead}</p>
      </div>
      ${problem?.note} ${card.form}
      ${back && html`<div class="buttons"><a class="button" href="${back.href}">${back.text}</a></div>`}
    </div>`,
  });
}
