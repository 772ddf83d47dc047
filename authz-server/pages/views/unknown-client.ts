import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { ConsentProps, View } from '../frame/view.ts';

/** Warns that no operator knows the client: its name is what it calls itself, its key is all that is sure. */
export function unknownNote({ language }: View, fingerprint: string): Html {
  const texts = textsOf(language).unknownClient;
  const groups = fingerprint.match(/.{1,8}/g) ?? [];
  return html`<div class="note warn">
    <p><strong>${texts.title}</strong> ${texts.text}</p>
    <p>${texts.key} <code>${groups.join(' ')}</code></p>
  </div>`;
}

/** Warns that the client describes itself: the host of its description is all that is sure, or not even that. */
export function describedNote(
  { language }: View,
  host: string,
  { name, native, registered }: NonNullable<ConsentProps['described']>,
): Html {
  const texts = textsOf(language).describedClient;
  return html`<div class="note warn">
    <p>${registered ? texts.registered(host, name) : texts.text(host, name)}</p>
    ${native && html`<p>${texts.native}</p>`}
  </div>`;
}
