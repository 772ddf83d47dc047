import type { Answer } from '#shared/http/answer.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { endCard } from './end-card.ts';
import { facts } from './facts.ts';

/** The end of a GNAP request without a user code. */
export interface AccessEndProps {
  readonly end: 'done' | 'denied';
  readonly client: string;
}

/** How a request ended whose client hears of it by itself. */
export function accessEndPage(view: View, { end, client }: AccessEndProps): Answer {
  const { accessEnd, deviceEnd } = textsOf(view.language);
  return endCard(view, {
    sign: end,
    ...accessEnd[end],
    facts: facts([[deviceEnd.application, client]]),
    on: { href: '/account', text: deviceEnd.account },
  });
}
