import type { Answer } from '#shared/http/answer.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endCard } from './end-card.ts';

/** The application that asked for the sign-out, and where it wants the browser to go on. */
interface Back {
  readonly href: string;
  readonly client: string;
}

/** `untold`: the names of the applications where a session may go on, since the server could not tell them yet. */
export function signedOutPage(view: View, untold: readonly string[] = [], back?: Back): Answer {
  const { signedOut, endEverything, goOn } = textsOf(view.language);
  const { title, text, signIn } = signedOut;
  return endCard(view, {
    sign: 'done',
    title,
    text,
    ...(untold.length > 0 && { more: endEverything.done.untold(untold.join(', ')) }),
    on: back
      ? { href: back.href, text: goOn.title(back.client), primary: true }
      : { href: '/account', text: signIn },
  });
}
