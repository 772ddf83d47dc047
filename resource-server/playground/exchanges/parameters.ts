import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { HttpError } from '#shared/http/answer.ts';
import { fieldOf, type ReadAnswer } from '../http1-message.ts';

/**
 * Returns the parameters of the first challenge of an answer (RFC 9110 section 11.6.1). Throws `HttpError` 503 without
 * a challenge, for example if the visitor is over a limit.
 */
export function challengeOf(answer: ReadAnswer): AuthParams {
  const [first] = parseChallenges(fieldOf(answer, 'WWW-Authenticate')) ?? [];
  if (first === undefined) throw answeredOtherwise(answer);
  return first.params ?? {};
}

/**
 * The error for an answer after which the exchange cannot continue: the store is unavailable, or the visitor is over a
 * limit.
 */
export const answeredOtherwise = ({ status }: ReadAnswer): HttpError =>
  new HttpError(503, `The server answered ${status}. Try again in a minute.`);

/** Returns the parameters of Authentication-Info (RFC 9110 section 11.6.3), which does not name a scheme. */
export const infoOf = (answer: ReadAnswer, scheme: string): AuthParams =>
  parseChallenges(`${scheme} ${fieldOf(answer, 'Authentication-Info')}`)?.[0]?.params ?? {};
