import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endCard } from './end-card.ts';
import { form } from './form.ts';
import { namedList } from './named-list.ts';

/** `last`: no other administrator can sign in. `other`: the form was made for another person in the same browser. */
export type RemovalProblem = 'last' | 'other';

export interface RemoveAccountProps {
  /** The URL to which the form is posted: `do` = remove, `person` = the id. */
  readonly action: string;
  readonly person: { readonly id: string; readonly name: string };
  /** The URL of the file with the data of the person. */
  readonly file: string;
  /** The URL of the page to return to without a change. */
  readonly back: string;
  /** The names of applications that lose their access, and whether there are more of them. */
  readonly applications: readonly string[];
  readonly isMore: boolean;
  readonly problem?: RemovalProblem;
}

/** Asks before a person deletes their account. */
export function removeAccountPage(view: View, props: RemoveAccountProps): Answer {
  const { action, person, file, back, applications, isMore, problem } = props;
  const texts = textsOf(view.language).data.remove;
  return document(view, {
    title: problem ? texts.problemTitle : texts.title,
    ...(problem && { status: 409 }),
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.account(person.name)} ${texts.text}</p>
      </div>
      ${problem && html`<p class="note bad" role="alert">${texts.problems[problem]}</p>`}
      ${namedList(texts.applications, applications)} ${isMore && html`<p>${texts.more}</p>`}
      <p class="muted">${texts.stays}</p>
      <p><a href="${file}">${texts.file}</a></p>
      ${form(
        view,
        action,
        { do: 'remove', person: person.id },
        html`<div class="buttons">
          <button class="button danger">${texts.submit}</button>
          <a class="button" href="${back}">${texts.keep}</a>
        </div>`,
      )}
    </div>`,
  });
}

/** Says that the account is deleted. `untold`: the names of the applications that the server has not told yet. */
export function accountRemovedPage(
  view: View,
  { untold }: { readonly untold: readonly string[] },
): Answer {
  const { data, endEverything } = textsOf(view.language);
  return endCard(view, {
    sign: 'done',
    title: data.remove.done.title,
    text: data.remove.done.text,
    ...(untold.length > 0 && { more: endEverything.done.untold(untold.join(', ')) }),
  });
}
