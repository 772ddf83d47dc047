import type { Answer } from '#shared/http/answer.ts';
import { document as whole, type Head, type PageContent } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from './view.ts';

/** The part of a view that the frame of a page needs. Pages without forms need no more. */
export type Frame = Pick<View, 'language' | 'brand' | 'person'>;

/**
 * Renders a page of this server, whose head names the person who is signed in. `below`: further navigation, as wide as
 * the page.
 */
export function document(
  frame: Frame,
  page: Omit<PageContent, 'head' | 'forms'>,
  below?: Html,
): Answer {
  const part = below ? 'bar' : page.part;
  return whole(frame, { ...page, part, forms: true, head: { ...headOf(frame), below } });
}

export const headOf = (frame: Frame): Head => ({ home: '/', more: person(frame) });

function person({ language, person: name }: Frame): Html | undefined {
  if (name === undefined) return undefined;
  const texts = textsOf(language);
  return html`<nav class="person" aria-label="${texts.yourAccount}">
    <span class="muted">${texts.youAre} <a href="/account">${name}</a></span>
    <a href="/sign-out">${texts.signOut}</a>
  </nav>`;
}
