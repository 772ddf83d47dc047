import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { vapidAuthorization, vapidKey } from '#shared/auth/schemes/vapid/prove.ts';
import { epochSeconds, systemClock } from '#shared/base/clock.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { recordAccess } from '#shared/people/access/grants.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { MOST } from '../../resource-server/push/parts.ts';

/** An application server (RFC 8292). */
export interface Sender {
  readonly key: KeyObject;
  /** Credentials that the sender uses repeatedly. */
  readonly authorization: string;
}

/** A subscription, with the paths for sending and receiving messages. */
export interface Subscription {
  readonly id: string;
  /** The path at which the user agent waits. */
  readonly path: string;
  /** The path of the push resource. */
  readonly push: string;
  /** The only allowed sender; absent: any sender that knows the push resource. */
  readonly sender?: Sender;
}

export type Senders = 'anybody' | 'vapid';

/** The public origin of the push service. A proxy terminates TLS. */
export const ORIGIN = 'https://localhost:3443';
/** The number of messages to one subscription in a short time: the burst of `push-subscription`. */
export const BURST = 100;
/** The number of subscriptions whose bursts equal the burst of their sender's key (`push-key`). */
const OF_A_KEY = 10;
/** Seconds, longer than a run. */
const LIFE = 7200;

type Store = Pick<Stores, 'push' | 'artefacts' | 'passkeys' | 'people' | 'revocations'>;

/**
 * Makes subscriptions directly in the store, the maximum for each person, because sign-ins of so many
 * people would take minutes. Each accepts `BURST` messages, independently of the others.
 */
export async function subscribe(
  stores: Store,
  count: number,
  senders: Senders,
): Promise<readonly Subscription[]> {
  const made: Subscription[] = [];
  let [maker, sender] = [{ person: '', grant: '' }, undefined as Sender | undefined];
  const writes: Promise<unknown>[] = [];
  for (let at = 0; at < count; at += 1) {
    if (at % MOST.subscriptions === 0) maker = await newGrant(stores);
    if (senders === 'vapid' && at % OF_A_KEY === 0) sender = newSender();
    const [id, push] = [randomId(systemRandom), randomId(systemRandom)];
    const row = {
      id,
      push,
      person: maker.person,
      maker: { grant_id: maker.grant, client_id: CLIENT, client_gen: 0 },
      ...(sender && { key: vapidKey(sender.key) }),
      created_at: systemClock.now(),
    };
    writes.push(stores.push.subscribe(row, MOST.subscriptions));
    const paths = { path: `/push/subscription/${id}`, push: `/push/push/${push}` };
    made.push({ id, ...paths, ...(sender && { sender }) });
  }
  const outcomes = await Promise.all(writes);
  if (outcomes.some((outcome) => outcome !== 'added')) throw new Error('a person has too many');
  return made;
}

const CLIENT = 'user-agent';

/** Stores the grant of a new person for the user agent. */
async function newGrant(stores: Store): Promise<{ person: string; grant: string }> {
  const [person, grant] = [randomId(systemRandom), randomId(systemRandom)];
  const whose = { grantId: grant, accountId: person, clientId: CLIENT };
  const access = { ...whose, generation: 0, clientGeneration: 0 };
  const store = { stores, clock: systemClock, longestLife: LIFE };
  await recordAccess(store, { ...access, since: systemClock.now() }, LIFE);
  return { person, grant };
}

function newSender(): Sender {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { key, authorization: newAuthorization(key) };
}

/** Signs a separate JWT for each call. */
export const newAuthorization = (key: KeyObject): string =>
  vapidAuthorization({
    key,
    audience: ORIGIN,
    expires: epochSeconds(systemClock) + LIFE,
    subject: 'mailto:admin@example.com',
  });

/** Changes the signature of the JWT in a text. */
export function forged(credentials: string): string {
  const at = credentials.lastIndexOf('.') + 1;
  const other = credentials[at] === 'A' ? 'B' : 'A';
  return credentials.slice(0, at) + other + credentials.slice(at + 1);
}
