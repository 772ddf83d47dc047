import { notFound, UNSTORED } from '#shared/http/answer.ts';
import type { PlacedMessage, PushMessage, Receipt } from '#shared/stores/push/push.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { pathOf } from './addresses.ts';
import { urgencyOf } from './message-fields.ts';
import type { PushParts, PushRequest } from './parts.ts';
import { standingOf, watchSubscription } from './subscriptions.ts';
import type { createWait } from './wait.ts';

/** Rows that are read at a time. */
const BATCH = 20;
/** Statuses of receipts (RFC 8030 section 6.3). */
const STATUS = { delivered: 204, gone: 410 } as const satisfies Record<Receipt['outcome'], number>;
const EMPTY: ResourceAnswer = { status: 204, fields: {} };

type Wait = ReturnType<typeof createWait>;

/** Sends a user agent the messages of its subscription, as they arrive (RFC 8030 section 6). */
export async function receive(parts: PushParts, asked: PushRequest, wait: Wait) {
  const { stores } = parts;
  const { space, request, origin, id } = asked;
  const least = urgencyOf(request.rawHeaders) ?? 'very-low';
  const mark = parts.standing.mark();
  const subscription = await standingOf(parts, await stores.push.subscription(id));
  if (subscription === undefined) throw notFound();
  const link = `<${pathOf(space, { kind: 'push', id: subscription.push })}>; rel="urn:ietf:params:push"`;
  const path = (message: PlacedMessage) => pathOf(space, { kind: 'message', id: message.id });
  return wait(asked, {
    id,
    read: (after) => stores.push.messages(id, after, least, BATCH),
    event: (message) => ({
      event: 'message',
      data: {
        url: origin + path(message),
        type: message.type,
        coding: message.coding,
        body: message.body.toString('base64url'),
      },
    }),
    promise: (message) => ({
      path: path(message),
      fields: { ':status': 200, ...lowerCase(fieldsOf(message)), link },
      body: message.body,
    }),
    async isThere(doubted) {
      const found = await stores.push.subscription(id);
      return (doubted ? await standingOf(parts, found) : found) !== undefined;
    },
    watch: (doubt) => watchSubscription(parts, subscription, mark, doubt),
  });
}

/** Sends an application server the receipts of its messages (section 6.3). */
export async function receipts(parts: PushParts, asked: PushRequest, wait: Wait) {
  const { push } = parts.stores;
  const { space, origin, id } = asked;
  if (!(await push.hasReceipts(id))) throw notFound();
  const path = ({ message }: Receipt) => pathOf(space, { kind: 'message', id: message });
  return wait<Receipt>(asked, {
    id,
    read: (after) => push.receipts(id, after, BATCH),
    event: (one) => ({
      event: 'receipt',
      data: { url: origin + path(one), status: STATUS[one.outcome] },
    }),
    promise: (one) => ({ path: path(one), fields: { ':status': STATUS[one.outcome] } }),
    taken: ({ message }) => push.forgetReceipt(id, message),
    isThere: () => push.hasReceipts(id),
  });
}

/** Answers HEAD, without waiting. */
export async function exists(parts: PushParts, { id }: PushRequest): Promise<ResourceAnswer> {
  const { push } = parts.stores;
  if (!(await standingOf(parts, await push.subscription(id)))) throw notFound();
  return { status: 200, fields: UNSTORED };
}

export async function hasReceipts(
  { stores }: PushParts,
  { id }: PushRequest,
): Promise<ResourceAnswer> {
  if (!(await stores.push.hasReceipts(id))) throw notFound();
  return { status: 200, fields: UNSTORED };
}

/** Ends a subscription (section 7.3). */
export async function unsubscribe(parts: PushParts, { id }: PushRequest) {
  const { push } = parts.stores;
  const subscription = await standingOf(parts, await push.subscription(id));
  if (subscription === undefined || !(await push.unsubscribe(id))) throw notFound();
  parts.news.tell(id);
  return EMPTY;
}

/** Ends a receipt subscription (section 7.3). */
export async function closeReceipts({ stores, news }: PushParts, { id }: PushRequest) {
  if (!(await stores.push.closeReceipts(id))) throw notFound();
  news.tell(id);
  return EMPTY;
}

/** Acknowledges a message (section 6.2). */
export async function acknowledge(parts: PushParts, { id }: PushRequest) {
  const message = await standingMessage(parts, id);
  if (!(await parts.stores.push.acknowledge(id))) throw notFound();
  if (message.receipts !== undefined) parts.news.tell(message.receipts);
  return EMPTY;
}

/** Returns a message, which its receiver may fetch again. */
export async function read(parts: PushParts, { id }: PushRequest): Promise<ResourceAnswer> {
  const message = await standingMessage(parts, id);
  return { status: 200, fields: fieldsOf(message), body: message.body };
}

/** Returns a message. Throws HttpError 404 if it is missing, or if its subscription has ended. */
async function standingMessage(parts: PushParts, id: string): Promise<PushMessage> {
  const { push } = parts.stores;
  const message = await push.message(id);
  if (message === undefined) throw notFound();
  if (!(await standingOf(parts, await push.subscription(message.subscription)))) throw notFound();
  return message;
}

/**
 * The fields of a message, without those that never reach its receiver: Topic, Urgency, token and key. Strangers write
 * messages, so a browser must not run a message or submit its forms.
 */
const fieldsOf = ({ type, coding, posted_at }: PushMessage) => ({
  ...UNSTORED,
  ...(type !== undefined && { 'Content-Type': type }),
  ...(coding !== undefined && { 'Content-Encoding': coding }),
  'Last-Modified': new Date(posted_at).toUTCString(),
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
});

const lowerCase = (fields: Readonly<Record<string, string | readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value : [...value],
    ]),
  );
