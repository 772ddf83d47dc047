import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { EndEverythingProps, EverythingEndedProps, View } from '../frame/view.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { sign } from './sign.ts';

/** Asks before everything is ended. */
export function endEverythingPage(view: View, { action, back }: EndEverythingProps): Answer {
  const texts = textsOf(view.language).endEverything;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.text}</p>
      </div>
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
  const { signIns, grants, again } = props;
  const { endEverything: texts, signedOut } = textsOf(view.language);
  return document(view, {
    title: texts.done.title,
    content: html`<div class="card">
      ${sign('done')}
      <div class="intro">
        <h1>${texts.done.title}</h1>
        <p>${texts.done.text}</p>
      </div>
      ${facts([
        [texts.done.signIns, String(signIns)],
        [texts.done.grants, String(grants)],
      ])}
      <div class="buttons"><a class="button" href="${again}">${signedOut.signIn}</a></div>
    </div>`,
  });
}
