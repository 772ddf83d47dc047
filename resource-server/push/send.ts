import { isOwnKey } from '#shared/auth/schemes/vapid/message-key.ts';
import { randomId } from '#shared/base/random.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { single } from '#shared/http/fields.ts';
import { linksTo } from '#shared/http/link.ts';
import { preference } from '#shared/http/prefer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { PushMessage } from '#shared/stores/push/push.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { idIn, pathOf } from './addresses.ts';
import { messageFields } from './message-fields.ts';
import { MOST, type PushParts, type PushRequest } from './parts.ts';
import { standingOf } from './subscriptions.ts';

/** The longest message in octets. A push service must accept at least 4096 (RFC 8030 section 7.2). */
const LONGEST = 4096;
/**
 * Milliseconds for which a message with TTL 0 is stored, so that it reaches a user agent that waits in another process.
 */
const AT_ONCE = 1000;
/** Seconds after which a full subscription may have room again. */
const LATER = '60';
const RATES = {
  'push-subscription': { burst: 100, per: 1 },
  'push-key': { burst: 1000, per: 0.05 },
} as const satisfies Readonly<Record<string, Rate>>;

const RECEIPT = 'urn:ietf:params:push:receipt';

/** Accepts a message of an application server (RFC 8030 section 5). */
export async function send(parts: PushParts, asked: PushRequest): Promise<ResourceAnswer> {
  const { stores, news, random, clock } = parts;
  const { request, space, origin, id } = asked;
  const raw = request.rawHeaders;
  const subscription = await standingOf(parts, await stores.push.subscriptionOf(id));
  if (subscription === undefined) throw notFound();
  const sender = parts.vapid(single(raw, 'authorization'), origin, subscription.key);
  const { ttl, ...fields } = messageFields(raw);
  const receipts = receiptsNamed(asked);
  const body = await wholeContent(
    request,
    LONGEST,
    () => new HttpError(413, `A message has ${LONGEST} bytes at most.`),
  );
  if (sender && isOwnKey(fields.coding, body, sender.key)) {
    throw new HttpError(
      400,
      'The message is encrypted with the key that signs: use one key for each (RFC 8292 section 3.2).',
    );
  }
  await spend(parts, 'push-subscription', subscription.id);
  if (sender) await spend(parts, 'push-key', sender.key);
  const now = Math.floor(clock.now());
  const wanted = preference(raw, 'respond-async') !== undefined || receipts !== undefined;
  const opened =
    wanted && receipts === undefined ? await newReceipts(parts, subscription.id) : undefined;
  const told = receipts ?? opened;
  const message: PushMessage = {
    id: randomId(random),
    subscription: subscription.id,
    ...fields,
    body,
    posted_at: now,
    until: now + Math.max(ttl * 1000, AT_ONCE),
    ...(told !== undefined && { receipts: told }),
  };
  const refused = REFUSALS[await stores.push.post(message, MOST)];
  if (refused) {
    if (opened !== undefined) await stores.push.closeReceipts(opened);
    throw refused();
  }
  // The grant may have ended while the message arrived.
  if (!(await standingOf(parts, subscription))) throw notFound();
  news.tell(subscription.id);
  return {
    status: wanted ? 202 : 201,
    fields: {
      Location: origin + pathOf(space, { kind: 'message', id: message.id }),
      TTL: String(ttl),
      ...(told !== undefined && {
        Link: `<${pathOf(space, { kind: 'receipts', id: told })}>; rel="${RECEIPT}"`,
      }),
    },
  };
}

const unknownReceipts = () =>
  new HttpError(400, 'There is no such receipt subscription (RFC 8030 section 5.1).');

const REFUSALS = {
  added: undefined,
  ended: notFound,
  full: () =>
    new HttpError(429, `${MOST.messages} messages wait for this user agent already.`, {
      'Retry-After': LATER,
    }),
  'no-receipts': unknownReceipts,
  'receipts-full': () =>
    new HttpError(429, `${MOST.receipts} receipts are due at this receipt subscription.`, {
      'Retry-After': LATER,
    }),
} as const;

async function spend(
  { stores }: PushParts,
  namespace: keyof typeof RATES,
  key: string,
): Promise<void> {
  const spent = await stores.limits.spend(namespace, key, RATES[namespace]);
  if (spent.ok) return;
  throw new HttpError(429, 'Too many messages in a short time.', {
    'Retry-After': String(spent.retryAfter),
  });
}

/** Returns the receipt subscription that the request names (section 5.1). */
function receiptsNamed({ request, space }: PushRequest): string | undefined {
  const [named, ...more] = linksTo(request.rawHeaders, RECEIPT);
  if (named === undefined) return undefined;
  const id = more.length === 0 ? idIn(space, 'receipts', named) : undefined;
  if (id === undefined) throw unknownReceipts();
  return id;
}

/** Makes a receipt subscription. Each message that names it extends its life. */
async function newReceipts(
  { stores, random, clock }: PushParts,
  subscription: string,
): Promise<string> {
  const id = randomId(random);
  const until = Math.floor(clock.now()) + 60_000;
  const receipts = { id, subscription, until };
  const opened = await stores.push.openReceipts(receipts, MOST.receiptSubscriptions);
  if (opened === 'added') return id;
  if (opened === 'ended') throw notFound();
  throw new HttpError(
    429,
    'This push resource has many receipt subscriptions: name one of them by a Link (RFC 8030 section 5.1).',
    { 'Retry-After': LATER },
  );
}
