import type { Answer } from '#shared/http/answer.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { endCard } from './end-card.ts';
import { facts } from './facts.ts';

/** The end of the approval of a device. `expired` is also used for an unknown code. */
export interface DeviceEndProps {
  readonly end: 'done' | 'denied' | 'expired';
  readonly client?: string;
  /** The URL for entering another code. */
  readonly again: string;
}

/** 410 for a code that has ended (RFC 9110 section 15.5.11). */
const STATUS = { done: 200, denied: 200, expired: 410 } as const;

/** How it ended, and where to go on. */
export function deviceEndPage(view: View, { end, client, again }: DeviceEndProps): Answer {
  const all = textsOf(view.language);
  const texts = all.deviceEnd;
  const on =
    end === 'done' ? { href: '/account', text: texts.account } : { href: again, text: texts.again };
  return endCard(view, {
    status: STATUS[end],
    sign: end,
    ...texts[end],
    facts: client !== undefined && facts([[texts.application, client]]),
    on,
  });
}
