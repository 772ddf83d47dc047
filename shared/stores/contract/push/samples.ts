import type { PushMessage, PushSubscription, ReceiptSubscription } from '../../push/push.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** A limit that no test reaches. */
export const MANY = 1000;
export const LIMITS = { messages: MANY, receipts: MANY };

export const someSubscription = (changes: Partial<PushSubscription> = {}): PushSubscription => ({
  id: fresh(),
  push: fresh(),
  person: fresh(),
  maker: { grant_id: fresh(), client_id: fresh(), client_gen: 3 },
  created_at: 1_800_000_000_000,
  ...changes,
});

/** A subscription that is in the store. */
export async function subscribed(contract: Contract, changes: Partial<PushSubscription> = {}) {
  const subscription = someSubscription(changes);
  await contract.one.push.subscribe(subscription, MANY);
  return subscription;
}

/** A message that lives for a minute. */
export function someMessage(
  { store }: Contract,
  subscription: string,
  changes: Partial<PushMessage> = {},
): PushMessage {
  const now = Math.floor(store.clock.now());
  return {
    id: fresh(),
    subscription,
    urgency: 'normal',
    body: Buffer.from(fresh()),
    posted_at: now,
    until: now + 60_000,
    ...changes,
  };
}

/** A receipt subscription that is in the store. */
export async function receiptsOf({ one, store }: Contract, subscription: string) {
  const until = Math.floor(store.clock.now()) + 60_000;
  const receipts: ReceiptSubscription = { id: fresh(), subscription, until };
  await one.push.openReceipts(receipts, MANY);
  return receipts.id;
}
