import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { endCard } from './end-card.ts';
import { form } from './form.ts';
import { formCard } from './form-card.ts';
import { shownProblem } from './problem.ts';

export interface ForgottenProps {
  /** The URL to which the form is posted: `name`. */
  readonly action: string;
  /** The name that the person typed before. */
  readonly name?: string;
  readonly back: string;
  readonly problem?: { readonly kind: 'later'; readonly seconds: number };
}

/** Asks for whom a link is to be sent by mail. */
export function forgottenPage(
  view: View,
  { action, name = '', back, ...more }: ForgottenProps,
): Answer {
  const { forgotten: texts, signIn } = textsOf(view.language);
  const problem = more.problem && shownProblem(view, more.problem, texts);
  return formCard(view, {
    title: texts.title,
    problemTitle: texts.problemTitle,
    lead: texts.lead,
    problem,
    form: form(
      view,
      action,
      {},
      html`<div class="field">
          <label for="name">${signIn.name}</label>
          <input
            class="input"
            id="name"
            name="name"
            value="${name}"
            autocomplete="username"
            autocapitalize="none"
            autocorrect="off"
            spellcheck="false"
            required${problem && html` aria-describedby="${problem.id}"`}
            autofocus
          />
        </div>
        <button class="button primary">${texts.submit}</button>`,
    ),
    back: { href: back, text: texts.back },
  });
}

/** The same for everybody: it does not say who has an account. */
export function linkSentPage(view: View, { back }: Pick<ForgottenProps, 'back'>): Answer {
  const { sent, back: text } = textsOf(view.language).forgotten;
  return endCard(view, {
    sign: 'done',
    title: sent.title,
    text: sent.text,
    more: sent.none,
    on: { href: back, text },
  });
}
