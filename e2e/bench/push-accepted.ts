import { systemClock } from '#shared/base/clock.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { MOST } from '../../resource-server/push/parts.ts';
import { performing, replacing } from './document-tasks.ts';
import type { HttpContender } from './http-load.ts';
import { put, SMALL_PUTS } from './library.ts';
import {
  forged,
  newAuthorization,
  type Senders,
  subscribe,
  type Subscription,
} from './push-crowd.ts';
import { forgedMessage, messageTo, newBody } from './push-messages.ts';
import { DOCUMENTS, type PushSite } from './push-site.ts';
import type { HttpRequest } from './requests.ts';
import { bearer } from './site.ts';
import { PROOFS } from './token-contenders.ts';
import { mintTokens } from './tokens.ts';

/** Subscriptions per run, which accept 100,000 messages together. */
const SUBSCRIPTIONS = 1000;
/** Subscriptions per run if others hold messages already: 20,000 messages together. */
const CROWDED = 200;

/** Replaces documents of 1 KiB, which is the most similar work. */
export async function replacingDocuments({ servers, one }: PushSite): Promise<HttpContender> {
  const { pair, authz } = servers;
  const { url: resource, scope } = DOCUMENTS;
  const client = await pair.addClient(scope);
  const [token = ''] = await mintTokens({ issuer: authz.url, client, scope, resource }, 1);
  const right = bearer(token);
  const collection = `${one.url}/documents/put/`;
  const { status } = await fetch(collection, { method: 'MKCOL', headers: right });
  if (status !== 201) throw new Error(`MKCOL was answered ${status}`);
  await put(one, right, SMALL_PUTS);
  const target = {
    name: 'PUT 1 KiB of a document',
    server: one,
    right,
    wrong: bearer(forged(token)),
  };
  return performing(target, replacing(SMALL_PUTS));
}

type Make = (all: readonly Subscription[], seconds: number) => readonly HttpRequest[];

interface Row {
  readonly name: string;
  readonly senders: Senders;
  readonly make: Make;
  /** Messages that are already stored for each subscription. */
  readonly waiting?: number;
}

const once: Make = (all) => all.map((to) => messageTo(to));

/** Enough separate JWTs. */
const signedAnew: Make = (all, seconds) =>
  Array.from({ length: seconds * PROOFS }, (_, at) => all[at % all.length])
    .filter((to) => to !== undefined)
    .map((to) => messageTo(to, newBody(), to.sender && newAuthorization(to.sender.key)));

const ROWS: readonly Row[] = [
  { name: 'POST a message, without vapid', senders: 'anybody', make: once },
  { name: 'with vapid, a JWT seen before', senders: 'vapid', make: once },
  { name: 'with vapid, a new JWT each', senders: 'vapid', make: signedAnew },
  {
    name: 'a JWT seen before, 98 messages wait',
    senders: 'vapid',
    make: once,
    waiting: MOST.messages - 2,
  },
];

/** Messages that are accepted while no user agent waits. Each run has its own subscriptions. */
export const sending = (site: PushSite): readonly HttpContender[] =>
  ROWS.map((row) => contender(site, row));

function contender({ one, stores }: PushSite, { name, senders, make, waiting = 0 }: Row) {
  const count = waiting > 0 ? CROWDED : SUBSCRIPTIONS;
  let some: readonly Subscription[] = [];
  const forge = () => {
    const [to] = some;
    if (to === undefined) throw new Error('there are no subscriptions');
    return forgedMessage(to);
  };
  return {
    name,
    server: one,
    load: {
      async take(seconds: number) {
        some = await subscribe(stores, count, senders);
        for (const { id } of some) await fill(stores, id, waiting);
        return make(some, seconds);
      },
      sent: () => {},
    },
    answer: { status: 201 },
    forged: () => forge().request,
    refusal: senders === 'vapid' ? 403 : 404,
  };
}

/** Puts messages into the store. */
async function fill({ push }: PushSite['stores'], subscription: string, count: number) {
  const now = systemClock.now();
  const message = () => ({
    id: randomId(systemRandom),
    subscription,
    urgency: 'normal' as const,
    body: Buffer.from(newBody()),
    posted_at: now,
    until: now + 3_600_000,
  });
  await Promise.all(Array.from({ length: count }, () => push.post(message(), MOST)));
}
