import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { formCard } from './form-card.ts';
import { shownProblem } from './problem.ts';

export interface DeviceEntryProps {
  /** Where `user_code` is sent by GET. */
  readonly action: string;
  readonly userCode?: string;
  readonly problem?:
    | { readonly kind: 'unknown' }
    | { readonly kind: 'later'; readonly seconds: number };
}

/** Asks for the code that a device shows (RFC 8628 section 3.3). */
export function deviceEntryPage(view: View, props: DeviceEntryProps): Answer {
  const { action, userCode = '' } = props;
  const texts = textsOf(view.language).deviceEntry;
  const problem = props.problem && shownProblem(view, props.problem, texts);
  const described = problem ? `${problem.id} hint` : 'hint';
  return formCard(view, {
    title: texts.title,
    problemTitle: texts.problemTitle,
    lead: texts.lead,
    problem,
    form: html`<form class="stack" method="get" action="${action}">
      <div class="field">
        <label for="code">${texts.code}</label>
        <input
          class="input code"
          id="code"
          name="user_code"
          value="${userCode}"
          autocomplete="off"
          autocapitalize="characters"
          autocorrect="off"
          spellcheck="false"
          required
          autofocus
          aria-describedby="${described}"
          ${problem?.invalid && html` aria-invalid="true"`}
        />
        <p class="small muted" id="hint">${texts.hint}</p>
      </div>
      <button class="button primary">${texts.submit}</button>
    </form>`,
  });
}
