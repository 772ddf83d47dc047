import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';
import { shownProblem } from './problem.ts';
import {
  codeOrRecovery,
  setUpFields,
  type SecondFactorProblem,
  type NewSecondFactor,
} from './second-factor-fields.ts';
import type { SignInProps } from './sign-in.ts';

/** The step after the password. */
export interface SecondStep {
  readonly name: string;
  /** The sealed state, which the form sends back as `step`. */
  readonly state: string;
  /** The person must have a second factor and has none. */
  readonly setUp?: NewSecondFactor;
  readonly problem?: SecondFactorProblem;
}

/** Where a person begins again with name and password. */
interface Again {
  readonly again: string;
}

/** The form is posted where that of the password was: `code` or `recovery`, `step`, and `hidden`. */
export type SecondStepProps = SecondStep &
  Again &
  Pick<SignInProps, 'action' | 'hidden' | 'client' | 'purpose' | 'cancel'>;

/** After the right password: asks for a code, or leads through the set-up of a second factor. */
export function secondStepPage(view: View, props: SecondStepProps): Answer {
  const { action, name, hidden = {}, client, purpose, cancel, state, setUp } = props;
  const { again } = props;
  const { secondFactor, signIn } = textsOf(view.language);
  const { step, problems } = secondFactor;
  const problem = props.problem && shownProblem(view, props.problem, problems);
  const title = setUp ? step.setUpTitle : step.title;
  return document(view, {
    ...problem,
    title: problem ? step.problemTitle : title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${title}</h1>
        ${client !== undefined && html`<p class="muted">${signIn.toContinue(client)}</p>`}
        ${purpose !== undefined && client === undefined && html`<p class="muted">${signIn.purposes[purpose]}</p>`}
        <p>${setUp ? step.setUpLead(name) : step.lead(name)}</p>
        ${setUp && html`<p class="muted">${step.ends}</p>`}
      </div>
      ${problem?.note}
      ${form(
        view,
        action,
        { ...hidden, step: state },
        html`${setUp ? setUpFields(view, setUp, problem) : codeOrRecovery(view, problem, props.problem?.kind === 'recovery')}
          <button class="button primary">${step.submit}</button>`,
      )}
      <p class="small"><a href="${again}">${step.again}</a></p>
      ${
        cancel !== undefined &&
        form(
          view,
          cancel.action,
          cancel.hidden ?? {},
          html`<button class="button">${step.cancel}</button>`,
        )
      }
    </div>`,
  });
}
