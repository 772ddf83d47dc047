import type { Check } from '#shared/explain/checks.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import type { Outcome } from '../pages/views/outcome.ts';
import { hasCredentials, readRecorded } from './recorded.ts';
import type { Leg } from './run.ts';

/** Challenges that ask the client to go on: with a nonce of the server, or with a new one. */
const ASKS_AGAIN = /error="use_dpop_nonce"|\bstale=true\b/;
/** The detail of an answer between two messages of a scheme. */
const GOES_ON = /^The exchange goes on/;

/**
 * Says at a glance what an answer means to the client. `checks`: of the request, if there is a list. Undefined: the
 * answer says neither yes nor no, such as that of an issuer, or to a request without credentials that is answered.
 */
export function outcomeOf(
  { to, sent, received }: Leg,
  checks: readonly Check[] | undefined,
): Outcome | undefined {
  if (to === 'issuer') return undefined;
  const { words, lines, content } = readRecorded(received);
  const shown = hasCredentials(readRecorded(sent));
  const wrong = checks?.find(({ result }) => result === 'wrong');
  if (Number(words[1]) < 400 && wrong === undefined) {
    return shown || checks ? { kind: 'accepted' } : undefined;
  }
  const detail = detailOf(content);
  const asks = [...lines('www-authenticate'), ...lines('proxy-authenticate')];
  if (GOES_ON.test(detail ?? '') || asks.some((value) => ASKS_AGAIN.test(value))) {
    return { kind: 'continued' };
  }
  if (!shown && asks.length > 0) return { kind: 'asked' };
  return { kind: 'refused', why: wrong?.reason ?? detail };
}

/** The detail of a problem (RFC 9457 section 3.1.4). */
function detailOf(content: Buffer): string | undefined {
  try {
    const problem: unknown = JSON.parse(content.toString());
    const detail = isObject(problem) ? problem['detail'] : undefined;
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
