import type { Answer } from '#shared/http/answer.ts';
import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { ConsentProps, View } from '../frame/view.ts';
import { decision } from './decision.ts';
import { form } from './form.ts';
import { itemChoice } from './items.ts';

/** Shows the client, the scopes that it asks for, and where the browser goes next. */
export function consentPage(view: View, props: ConsentProps): Answer {
  const { action, client, redirectUri, items } = props;
  const texts = textsOf(view.language).consent;
  return document(view, {
    title: texts.title(client),
    redirectUri,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title(client)}</h1>
        <p>${texts.lead(client)}</p>
      </div>
      ${form(view, action, {}, html`${itemChoice(view, items)}${decision(view)}`)}
      <div class="intro small muted">
        <p>${next(view, redirectUri)}</p>
        <p>${texts.end}</p>
      </div>
    </div>`,
  });
}

const LOOPBACK = /^(?:127\.[\d.]+|\[::1\]|localhost)$/;

function next({ language }: View, redirectUri: string): Html {
  const texts = textsOf(language).consent;
  const { protocol, host, hostname } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol)) return texts.toApp(protocol);
  return LOOPBACK.test(hostname) ? texts.toThisMachine(host) : texts.toHost(host);
}
