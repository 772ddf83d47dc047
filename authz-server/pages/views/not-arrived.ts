import type { Answer } from '#shared/http/answer.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { endCard } from './end-card.ts';

/**
 * Why a sign-in by a source failed. `unknown`: no account here belongs to the account there; `address`: another person
 * has proved its address; `disabled`: the account here is disabled; `late`: the sign-in was done already, took too long,
 * or began in another browser; the others as `ProviderError`.
 */
export type NotArrivedKind =
  | 'unknown'
  | 'address'
  | 'disabled'
  | 'late'
  | 'denied'
  | 'unavailable'
  | 'wrong';

const STATUS: Readonly<Record<NotArrivedKind, number>> = {
  unknown: 403,
  address: 409,
  disabled: 403,
  late: 400,
  denied: 403,
  unavailable: 503,
  wrong: 502,
};

/** Seconds after which a provider that did not answer is asked again. */
const AGAIN = '30';

/** Says why an account elsewhere did not sign a person in, and leads back. */
export function notArrivedPage(
  view: View,
  {
    kind,
    title,
    goOn,
  }: { readonly kind: NotArrivedKind; readonly title: string; readonly goOn: string },
): Answer {
  const texts = textsOf(view.language).sources;
  const answer = endCard(view, {
    status: STATUS[kind],
    sign: kind === 'late' || kind === 'unavailable' ? 'expired' : 'denied',
    title: texts.failed.title,
    text: texts.failed[kind](title),
    on: { href: goOn, text: texts.failed.back },
  });
  return kind === 'unavailable'
    ? { ...answer, fields: { ...answer.fields, 'Retry-After': AGAIN } }
    : answer;
}
