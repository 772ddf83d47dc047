import type { Check } from '#shared/explain/checks.ts';
import type { Outcome } from '../pages/views/outcome.ts';
import {
  hasCredentials,
  isContinued,
  membersOf,
  readRecorded,
  type RecordedMessage,
  toldIn,
} from './recorded.ts';
import type { Leg } from './run.ts';

/** Challenges that ask the client to continue with a nonce of the server. */
const ASKS_AGAIN = /error="use_dpop_nonce"|\bstale=true\b/;

/**
 * Answers of a server that is overloaded, or whose store is unavailable (RFC 6585 section 4, RFC 9110 section 15.6.4).
 */
const AWAY: ReadonlySet<unknown> = new Set(['429', '503']);

/**
 * Returns what an answer means to the client. `checks`: of the request, if the exchange lists them. Undefined: the
 * answer neither grants nor refuses, such as the answer of an issuer.
 */
export function outcomeOf(
  { to, sent, received, refusal, noted }: Leg,
  checks: readonly Check[] | undefined,
): Outcome | undefined {
  if (refusal !== undefined) return { kind: 'refused', why: refusal };
  if (to === 'issuer') return undefined;
  const { words, lines, content } = readRecorded(received);
  if (AWAY.has(words[1])) return { kind: 'away', why: toldIn(content) };
  const wrong = checks?.find(({ result }) => result === 'wrong');
  if (to === 'authorization') return outcomeAtIssuer(readRecorded(received), wrong);
  const shown = hasCredentials(readRecorded(sent));
  if (Number(words[1]) < 400 && wrong === undefined) {
    return shown || checks ? { kind: 'accepted' } : undefined;
  }
  const detail = toldIn(content);
  const asks = [...lines('www-authenticate'), ...lines('proxy-authenticate')];
  if (isContinued(noted) || asks.some((value) => ASKS_AGAIN.test(value))) {
    return { kind: 'continued' };
  }
  if (!shown && asks.length > 0) return { kind: 'asked' };
  return { kind: 'refused', check: wrong?.check, why: wrong?.reason ?? detail };
}

/** The outcome of an authorization server's answer, whose errors say why (RFC 6749 section 5.2). */
function outcomeAtIssuer(
  { words, content, lines }: RecordedMessage,
  wrong: Check | undefined,
): Outcome {
  // The browser brings the error to the client (RFC 6749 section 4.1.2.1).
  const [location = ''] = lines('location');
  const told = URL.parse(location)?.searchParams.get('error_description');
  if (told) return { kind: 'refused', check: wrong?.check, why: told };
  if (Number(words[1]) < 400) return { kind: 'accepted' };
  // The person has not decided yet (RFC 8628 section 3.5).
  if (membersOf(content)['error'] === 'authorization_pending') return { kind: 'pending' };
  return { kind: 'refused', check: wrong?.check, why: toldIn(content) ?? wrong?.reason };
}
