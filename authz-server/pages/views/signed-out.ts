import type { Answer } from '#shared/http/answer.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endCard } from './end-card.ts';

/** `untold`: the names of the applications where a session may go on, since the server could not tell them yet. */
export function signedOutPage(view: View, untold: readonly string[] = []): Answer {
  const { signedOut, endEverything } = textsOf(view.language);
  const { title, text, signIn } = signedOut;
  return endCard(view, {
    sign: 'done',
    title,
    text,
    ...(untold.length > 0 && { more: endEverything.done.untold(untold.join(', ')) }),
    on: { href: '/account', text: signIn },
  });
}
