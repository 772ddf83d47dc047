import type { Answer } from '#shared/http/answer.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endCard } from './end-card.ts';

export function signedOutPage(view: View): Answer {
  const { title, text, signIn } = textsOf(view.language).signedOut;
  return endCard(view, { sign: 'done', title, text, on: { href: '/account', text: signIn } });
}
