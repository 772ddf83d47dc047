import { jsonOf, openSend, type Reply } from '#shared/client/send.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { Failure } from '../arguments/command.ts';

/** Octets of the longest answer that a command takes. */
export const LONGEST = 256 * 1024 * 1024;

/** Sends a request without a time limit for the whole answer, as content may be long. */
export const sendUnhurried = openSend({ milliseconds: Infinity, most: LONGEST });

/**
 * A URL that secrets and tokens may be sent to: https, or http on loopback; without user and fragment.
 * Undefined when it is another.
 */
export function parseSafeUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || text.includes('#'))
    return undefined;
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  return safe ? url : undefined;
}

/** The answer's body as a JSON object; throws `Failure` when it is something else. */
export function jsonObject(
  reply: Pick<Reply, 'body'>,
  from: string,
): Readonly<Record<string, unknown>> {
  const value = jsonOf(reply);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure(`${from} did not answer with a JSON object`);
  }
  return { ...value };
}

/** Seconds, as they were written; undefined when the answer does not say (RFC 9110 section 10.2.3). */
export function retryAfter({ fields }: Pick<Reply, 'fields'>): string | undefined {
  return /^\d{1,9}$/.exec(fields['retry-after'] ?? '')?.[0];
}
