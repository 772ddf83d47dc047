import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { ConsentProps, View } from '../frame/view.ts';
import { afterwards } from './afterwards.ts';
import { clientLogo } from './client-logo.ts';
import { decision } from './decision.ts';
import { form } from './form.ts';
import { itemChoice } from './items.ts';
import { describedNote, unknownNote } from './unknown-client.ts';

/** Shows the client, the scopes that it asks for, and where the browser goes next. */
export function consentPage(view: View, props: ConsentProps): Answer {
  const { action, client, logo, items, unknown, described } = props;
  const texts = textsOf(view.language).consent;
  return document(view, {
    title: texts.title(client),
    ...(logo !== undefined && { pictures: [logo] }),
    content: html`<div class="card">
      <div class="intro">
        <div>
          ${clientLogo(logo)}
          <h1>${texts.title(client)}</h1>
        </div>
        <p>${texts.lead(client)}</p>
      </div>
      ${unknown !== undefined && unknownNote(view, unknown)}
      ${described !== undefined && describedNote(view, client, described)}
      ${form(view, action, described ? { since: `${described.since}` } : {}, html`${itemChoice(view, items)}${decision(view)}`)}
      <div class="intro small muted">
        ${afterwards(view, props)}
        <p>${texts.end}</p>
      </div>
    </div>`,
  });
}
