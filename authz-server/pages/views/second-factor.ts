import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';
import { shownProblem } from './problem.ts';
import {
  setUpFields,
  type SecondFactorProblem,
  type NewSecondFactor,
} from './second-factor-fields.ts';
import { moment } from './times.ts';

interface SecondFactorFrame {
  /** The URL to which the forms are posted: `change` = set-up | another | renew | remove. */
  readonly action: string;
  readonly back: string;
  readonly hasPassword: boolean;
  /** `removed`: just now; `codes-shown`: the recovery codes were shown by an answer that this one takes the place of. */
  readonly notice?: 'removed' | 'codes-shown';
  readonly problem?: SecondFactorProblem;
}

export type SecondFactorProps = SecondFactorFrame &
  (
    | {
        readonly setUp: NewSecondFactor;
        readonly state: string;
        /** Whether it replaces the second factor that the person has. */
        readonly isAnother: boolean;
      }
    | {
        /** Milliseconds since the epoch. */
        readonly since: number;
        /** How many recovery codes are left. */
        readonly left: number;
        /** The operator demands one. */
        readonly required: boolean;
      }
  );

/** Where a person sets a second factor up, makes new recovery codes, or removes it. */
export function secondFactorPage(view: View, props: SecondFactorProps): Answer {
  const { back, notice, hasPassword } = props;
  const { title, account: texts, problems, step } = textsOf(view.language).secondFactor;
  const problem = props.problem && shownProblem(view, props.problem, problems);
  return document(view, {
    ...problem,
    title: problem ? step.problemTitle : title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        <p>${hasPassword ? texts.lead : texts.leadWithoutPassword}</p>
      </div>
      ${notice && html`<p class="note good" role="status">${texts.notices[notice]}</p>`}
      ${problem?.note} ${'setUp' in props ? setUpForm(view, props, problem) : existing(view, props)}
      <div class="buttons"><a class="button" href="${back}">${texts.back}</a></div>
    </div>`,
  });
}

type SetUpProps = Extract<SecondFactorProps, { setUp: unknown }>;
type ExistingProps = Exclude<SecondFactorProps, { setUp: unknown }>;

function setUpForm(
  view: View,
  { action, setUp, state, isAnother }: SetUpProps,
  problem: ReturnType<typeof shownProblem> | undefined,
) {
  const texts = textsOf(view.language).secondFactor.account;
  return html`<p class="muted">${isAnother && texts.replaces} ${texts.ends} ${texts.schemes}</p>
    ${form(
      view,
      action,
      { change: 'set-up', step: state },
      html`${setUpFields(view, setUp, problem)}
        <button class="button primary">${isAnother ? texts.setUpAnother : texts.setUp}</button>`,
    )}`;
}

function existing(view: View, { action, since, left, required, hasPassword }: ExistingProps) {
  const texts = textsOf(view.language).secondFactor.account;
  /** A button with what it does below it. */
  const change = (name: string, button: Html, text: string) =>
    form(
      view,
      action,
      { change: name },
      html`<div class="field">
        ${button}
        <small class="muted" id="${name}">${text}</small>
      </div>`,
    );
  return html`<p>${texts.isSetUp(moment(since, view))} ${texts.left(left)}</p>
    ${change(
      'another',
      html`<button class="button" aria-describedby="another">${texts.another}</button>`,
      texts.anotherText,
    )}
    ${change(
      'renew',
      html`<button class="button" aria-describedby="renew">${texts.renew}</button>`,
      texts.renewText,
    )}
    ${
      required
        ? html`<p class="muted">${texts.required}</p>`
        : change(
            'remove',
            html`<button class="button danger" aria-describedby="remove">${texts.remove}</button>`,
            hasPassword ? texts.removeText : texts.removeTextWithoutPassword,
          )
    }`;
}
