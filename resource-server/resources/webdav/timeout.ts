import { lines } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/** TimeType (RFC 4918 section 10.7). */
const TIME_TYPE = /^(?:second-(\d+)|infinite)$/i;

/**
 * Reads the Timeout field in seconds, with Infinity for as long as possible. Uses the first value that is
 * understood, since the server need not honour any. Returns undefined if there is none.
 */
export function timeoutOf({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): number | undefined {
  const wishes = lines(rawHeaders, 'timeout').flatMap((line) => line.split(','));
  for (const wish of wishes) {
    const [understood, seconds = Infinity] = TIME_TYPE.exec(wish.trim()) ?? [];
    if (understood !== undefined) return Number(seconds);
  }
  return undefined;
}
