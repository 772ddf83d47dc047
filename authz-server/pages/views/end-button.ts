import { type Html, html } from '#shared/pages/html.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** A button that leads to a page which asks before it ends something. `what` is for those who do not see beside what it stands. */
export const endButton = (
  { language }: View,
  thing: Readonly<Record<'end' | 'id', string>>,
  what: string,
  text: string = textsOf(language).account.end,
): Html =>
  html`<form method="get" action="/account/end">
    <input type="hidden" name="end" value="${thing.end}" />
    <input type="hidden" name="id" value="${thing.id}" />
    <button class="button slim">${text}<span class="hidden">${what}</span></button>
  </form>`;
