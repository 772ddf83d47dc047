import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import type { EndOneProps } from '../frame/account-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { form } from './form.ts';
import { namedList } from './named-list.ts';

/** Asks before one thing is ended or removed, and lists what ends with it. */
export function endOnePage(view: View, props: EndOneProps): Answer {
  const { kind, name, action, fields, back, isHere, browsers, applications } = props;
  const all = textsOf(view.language).endOne;
  const texts = all.kinds[kind];
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p><strong>${name}</strong></p>
        <p>${texts.text}</p>
      </div>
      ${isHere && html`<p class="note warn">${all.here}</p>`}
      ${kind !== 'sign-in' && namedList(kind === 'application' ? all.places : all.browsers, browsers)}
      ${namedList(all.applications, applications)}
      ${form(
        view,
        action,
        fields,
        html`<div class="buttons">
          <button class="button danger">${texts.submit}</button>
          <a class="button" href="${back}">${all.keep}</a>
        </div>`,
      )}
    </div>`,
  });
}
