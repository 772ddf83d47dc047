import { createHash } from 'node:crypto';
import { addressKey } from '#shared/people/names/mail-address.ts';
import type { LimitNamespace, Rate } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';

/** Limits of links by mail: three an hour to one mail address, ten an hour from one person or IP address. */
const TO_ADDRESS: Rate = { burst: 3, per: 1200 };
const BY_ASKER: Rate = { burst: 10, per: 360 };

/**
 * Counts a link by mail against its limits, whether or not a message is sent. The limit of the caller comes first, so
 * that a flood of requests does not use up other limits; then that of the mail address. Undefined: the link is allowed;
 * otherwise the seconds until it is.
 */
export async function payForLink(
  { stores: { limits } }: Pick<PagesServer, 'stores'>,
  asker: readonly [namespace: LimitNamespace, key: string],
  address: string,
): Promise<number | undefined> {
  const own = await limits.spend(...asker, BY_ASKER);
  if (!own.ok) return own.retryAfter;
  // Each page has its own bucket, so strangers at one page cannot use up a person's limit at another.
  const [door] = asker;
  const key = createHash('sha256')
    .update(`${door} ${addressKey(address)}`)
    .digest('base64url');
  const there = await limits.spend('mail-address', key, TO_ADDRESS);
  return there.ok ? undefined : there.retryAfter;
}
