import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { form } from './form.ts';
import { shownProblem } from './problem.ts';
import { timeOf } from './times.ts';

export interface SourcesProps {
  /** Forms are posted here: `do` is `unlink`, with the name of the `source`. */
  readonly action: string;
  readonly sources: readonly {
    readonly name: string;
    readonly title: string;
    /** The URL that begins a link. */
    readonly link: string;
    /** Whether this source brought the person. Its account cannot be unlinked. */
    readonly isOrigin: boolean;
    /** When the person linked the account, in milliseconds since the epoch. Absent: there is no such link. */
    readonly since?: number;
  }[];
  readonly done?: 'linked' | 'unlinked';
  /** `taken`: another person, or this one, has such an account; `last`: the person could not sign in any more. */
  readonly problem?: 'late' | 'taken' | 'last' | 'gone';
}

/** The accounts elsewhere with which a person signs in. */
export function sourcesPage(view: View, { action, sources, done, ...props }: SourcesProps): Answer {
  const all = textsOf(view.language);
  const texts = all.sources;
  const problem = props.problem && shownProblem(view, { kind: props.problem }, texts.problems);
  return document(view, {
    ...problem,
    title: problem ? texts.problemTitle : texts.title,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead}</p>
        ${done !== undefined && html`<p class="note good" role="status">${texts.done[done]}</p>`}
        ${problem?.note}
      </div>
      <ul class="list">
        ${sources.map((source) => entry(view, action, source))}
      </ul>
      <p><a class="button" href="/account">${texts.back}</a></p>
    </div>`,
  });
}

function entry(
  view: View,
  action: string,
  { name, title, link, isOrigin, since }: SourcesProps['sources'][number],
): Html {
  const texts = textsOf(view.language).sources;
  const linked =
    since === undefined
      ? texts.notLinked
      : html`${texts.linkedSince} ${timeOf(since, view, 'short')}`;
  return html`<li>
    <div class="entry">
      <h2>${title}</h2>
      <p class="small muted">${isOrigin ? texts.origin : linked}</p>
    </div>
    ${
      !isOrigin &&
      (since === undefined
        ? html`<a class="button slim" href="${link}"
            >${texts.link}<span class="hidden"> ${title}</span></a
          >`
        : form(
            view,
            action,
            { do: 'unlink', source: name },
            html`<button class="button slim danger">
              ${texts.unlink}<span class="hidden"> ${title}</span>
            </button>`,
          ))
    }
  </li> `;
}

/** Asks whether an account elsewhere may sign in to the account here. */
export function linkAccountPage(
  view: View,
  {
    action,
    account,
    title,
    label,
  }: {
    /** The form is posted here: `do` is `link`, with the ticket `account`. */
    readonly action: string;
    readonly account: string;
    readonly title: string;
    readonly label: string;
  },
): Answer {
  const texts = textsOf(view.language).sources;
  return document(view, {
    title: texts.ask.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.ask.title}</h1>
        <p>${texts.ask.text(label, title, view.person ?? '')}</p>
      </div>
      ${form(
        view,
        action,
        { do: 'link', account },
        html`<button class="button primary">${texts.ask.submit}</button>`,
      )}
      <div class="buttons"><a class="button" href="${action}">${texts.ask.cancel}</a></div>
    </div>`,
  });
}
