import { lines } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';

/** TimeType (RFC 4918 section 10.7). */
const TIME_TYPE = /^(?:second-(\d+)|infinite)$/i;

/**
 * Seconds that a client asks for with the Timeout field, Infinity for as long as possible: the first of
 * its wishes that is understood, since none need be honoured. Undefined: it has none.
 */
export function timeoutOf({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): number | undefined {
  const wishes = lines(rawHeaders, 'timeout').flatMap((line) => line.split(','));
  for (const wish of wishes) {
    const [understood, seconds = Infinity] = TIME_TYPE.exec(wish.trim()) ?? [];
    if (understood !== undefined) return Number(seconds);
  }
  return undefined;
}
