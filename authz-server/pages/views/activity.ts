import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { ActivityEntry, ActivityProps } from '../frame/account-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { browserOf } from './account-sign-ins.ts';
import { facts } from './facts.ts';
import { moment } from './times.ts';

/** A page of what happened in the name of a person. */
export function activityPage(view: View, props: ActivityProps): Answer {
  const { entries, isFirst, older, newest, back } = props;
  const texts = textsOf(view.language).activity;
  return document(view, {
    title: texts.title,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead}</p>
      </div>
      ${activityList(view, entries, isFirst ? texts.none : texts.noneHere)}
      <p class="buttons">
        ${!isFirst && html`<a class="button slim" href="${newest}">${texts.newest}</a> `}
        ${older !== undefined && html`<a class="button slim" href="${older}">${texts.older}</a> `}
        <a class="button slim" href="${back}">${texts.back}</a>
      </p>
    </div>`,
  });
}

/** The newest entries, on the account page. */
export function activitySection(
  view: View,
  { entries, all }: { readonly entries: readonly ActivityEntry[]; readonly all: string },
): Html {
  const texts = textsOf(view.language).activity;
  return html`<section aria-labelledby="activity">
    <h2 id="activity">${texts.title}</h2>
    ${activityList(view, entries, texts.none, 'h3')}
    ${entries.length > 0 && html`<p><a href="${all}">${texts.showAll}</a></p>`}
  </section>`;
}

function activityList(
  view: View,
  entries: readonly ActivityEntry[],
  none: string,
  heading: 'h2' | 'h3' = 'h2',
): Html {
  if (entries.length === 0) return html`<p class="empty">${none}</p>`;
  return html`<ul class="list">
    ${entries.map((entry) => activityEntry(view, entry, heading))}
  </ul>`;
}

function activityEntry(view: View, entry: ActivityEntry, heading: 'h2' | 'h3'): Html {
  const { at, by, count, means, reason, agent, address } = entry;
  const { account, activity: texts } = textsOf(view.language);
  const title = titleOf(view, entry);
  const more = count !== undefined && html` <span class="tag open">${texts.times(count)}</span>`;
  const known = [
    [account.by, means && account.means[means]],
    [texts.reason, reason && texts.reasons[reason]],
    [texts.browser, agent === undefined ? undefined : browserOf(view, { agent })],
    [account.address, address],
  ] as const;
  return html`<li>
    <div class="entry">
      ${heading === 'h2' ? html`<h2>${title}${more}</h2>` : html`<h3>${title}${more}</h3>`}
      <p class="small muted">${moment(at, view)}</p>
      ${by !== undefined && html`<p class="small">${texts.by[by]}</p>`}
      ${known.some(([, value]) => value !== undefined) && facts(known)}
    </div>
  </li> `;
}

function titleOf({ language }: View, { kind, client, part }: ActivityEntry): string {
  const texts = textsOf(language).activity;
  if (part !== undefined) return texts.parts[part];
  const text = texts.kinds[kind];
  return typeof text === 'string' ? text : text(client ?? texts.someApplication);
}
