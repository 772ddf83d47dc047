import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { ConsentProps, View } from '../frame/view.ts';

/** Tells where the browser goes after the decision, or who hears of it. */
export function afterwards(
  view: View,
  { redirectUri, pushUri }: Pick<ConsentProps, 'redirectUri' | 'pushUri'>,
): Html | false {
  const { toServer } = textsOf(view.language).consent;
  if (pushUri !== undefined) return html`<p>${toServer(new URL(pushUri).host)}</p>`;
  return redirectUri !== undefined && html`<p>${next(view, redirectUri)}</p>`;
}

const LOOPBACK = /^(?:127\.[\d.]+|\[::1\]|localhost)$/;

function next({ language }: View, redirectUri: string): Html {
  const texts = textsOf(language).consent;
  const { protocol, host, hostname } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol)) return texts.toApp(protocol);
  return LOOPBACK.test(hostname) ? texts.toThisMachine(host) : texts.toHost(host);
}
