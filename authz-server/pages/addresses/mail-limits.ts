import { createHash } from 'node:crypto';
import { addressKey } from '#shared/people/names/mail-address.ts';
import type { LimitNamespace, Rate } from '#shared/stores/limits/limits.ts';
import type { PagesServer } from '../../base/server.ts';

/** Three links an hour to an address, ten from a person or from a network address. */
const TO_ADDRESS: Rate = { burst: 3, per: 1200 };
const BY_ASKER: Rate = { burst: 10, per: 360 };

/**
 * Pays for a link by mail, whether or not anybody gets one: first from the bucket of whoever asks, so that a flood empties
 * no other's, then from that of the address. Undefined: it is paid; else the seconds until it can be.
 */
export async function payForLink(
  { stores: { limits } }: Pick<PagesServer, 'stores'>,
  asker: readonly [namespace: LimitNamespace, key: string],
  address: string,
): Promise<number | undefined> {
  const own = await limits.spend(...asker, BY_ASKER);
  if (!own.ok) return own.retryAfter;
  // A bucket for each door: strangers at one empty none of a person at another.
  const [door] = asker;
  const key = createHash('sha256')
    .update(`${door} ${addressKey(address)}`)
    .digest('base64url');
  const there = await limits.spend('mail-address', key, TO_ADDRESS);
  return there.ok ? undefined : there.retryAfter;
}
