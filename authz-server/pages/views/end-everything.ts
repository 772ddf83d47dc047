import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { EndEverythingProps, EverythingEndedProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { browserSince } from './account-sign-ins.ts';
import { endCard } from './end-card.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { namedList } from './named-list.ts';

/** Asks before everything is ended, and lists what that would be. */
export function endEverythingPage(view: View, props: EndEverythingProps): Answer {
  const { action, back, lists, isMore } = props;
  const texts = textsOf(view.language).endEverything;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text}</p>
      </div>
      ${namedList(
        texts.browsers,
        lists.signIns.map((signIn) => browserSince(view, signIn)),
      )}
      ${namedList(
        texts.applications,
        lists.applications.map(({ name }) => name),
      )}
      ${isMore && html`<p>${texts.more}</p>`}
      <p class="muted">${texts.stays}</p>
      ${form(
        view,
        action,
        { end: 'everything' },
        html`<div class="buttons">
          <button class="button danger">${texts.submit}</button>
          <a class="button" href="${back}">${texts.keep}</a>
        </div>`,
      )}
    </div>`,
  });
}

/** Says what has ended. */
export function everythingEndedPage(view: View, props: EverythingEndedProps): Answer {
  const { signIns, grants, untold, again } = props;
  const { endEverything: texts, signedOut } = textsOf(view.language);
  return endCard(view, {
    sign: 'done',
    title: texts.done.title,
    text: texts.done.text,
    ...(untold.length > 0 && { more: texts.done.untold(untold.join(', ')) }),
    facts: facts([
      [texts.done.signIns, String(signIns)],
      [texts.done.grants, String(grants)],
    ]),
    on: { href: again, text: signedOut.signIn },
  });
}
