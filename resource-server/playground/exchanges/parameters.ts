import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { fieldOf, type ReadAnswer } from '../http1-message.ts';

/** Returns the parameters of the first challenge of an answer (RFC 9110 section 11.6.1). Throws if there is none. */
export function challengeOf(answer: ReadAnswer): AuthParams {
  const [first] = parseChallenges(fieldOf(answer, 'WWW-Authenticate')) ?? [];
  if (first === undefined) throw new Error('the own server gave no challenge');
  return first.params ?? {};
}

/** Returns the parameters of Authentication-Info (RFC 9110 section 11.6.3), in which no scheme is named. */
export const infoOf = (answer: ReadAnswer, scheme: string): AuthParams =>
  parseChallenges(`${scheme} ${fieldOf(answer, 'Authentication-Info')}`)?.[0]?.params ?? {};
