import { setImmediate } from 'node:timers/promises';
import { standingOf, type SubscriptionParts } from './subscriptions.ts';

/** Removes the subscriptions whose grant has ended. One that somebody uses is removed then; this is for all others. */
export async function sweepSubscriptions(
  parts: Omit<SubscriptionParts, 'standing'>,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const some = await parts.stores.push.someSubscriptions(cursor);
    for (const one of some.subscriptions) await standingOf(parts, one);
    ({ cursor } = some);
    await setImmediate();
  } while (cursor !== undefined);
}
