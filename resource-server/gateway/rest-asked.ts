import { lines } from '#shared/http/fields.ts';
import type { AnswerHead } from '../forwarding/sink.ts';

/** For how many milliseconds an answer asks to be left alone (RFC 9110 sections 10.2.3 and 15.6.4). */
export function restAsked({ status, rawHeaders }: AnswerHead, now: number): number {
  if (status !== 503) return 0;
  const [value = ''] = lines(rawHeaders, 'retry-after');
  const wait = /^[0-9]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return wait > 0 ? wait : 0; // it is no number if there is no date
}
