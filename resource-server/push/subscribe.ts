import { p256Point } from '#shared/auth/schemes/vapid/vapid.ts';
import { subjectOf } from '#shared/auth/person.ts';
import { randomId } from '#shared/base/random.ts';
import { parseStrictJson } from '#shared/base/strict-json.ts';
import { HttpError, UNSTORED } from '#shared/http/answer.ts';
import { single } from '#shared/http/fields.ts';
import { linksTo } from '#shared/http/link.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { PushSubscription } from '#shared/stores/push/push.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { pathOf } from './addresses.ts';
import { MOST, type PushParts, type PushRequest } from './parts.ts';
import { isMade, makerOf, standingOf } from './subscriptions.ts';

/** The relation type of a subscription set, which this service does not support. */
const SET = 'urn:ietf:params:push:set';
/** The media type of subscription options (RFC 8292 section 4.1). */
const OPTIONS = 'application/webpush-options+json';
/** Octets of the longest options: one key, and unknown members. */
const LONGEST_OPTIONS = 4096;

/** Makes a subscription for the person whose token authenticated the request (RFC 8030 section 4). */
export async function subscribe(
  parts: PushParts,
  { request, space, origin, passed, watch }: PushRequest,
): Promise<ResourceAnswer> {
  const { stores, random, clock } = parts;
  if (passed === undefined) throw new Error('nobody was let in');
  const maker = await makerOf(parts, passed.principal);
  const person = passed.principal.kind === 'person' ? subjectOf(passed.principal) : undefined;
  if (maker === undefined || person === undefined) {
    throw new HttpError(403, 'A subscription is for a person: use a token that a person allowed.');
  }
  if (linksTo(request.rawHeaders, SET).length > 0) {
    throw new HttpError(
      400,
      'There is no such subscription set (RFC 8030 section 4.1): leave it out.',
    );
  }
  const judgeAgain = watch?.();
  const key = await keyAsked(request);
  await judgeAgain?.();
  const id = randomId(random);
  const subscription: PushSubscription = {
    id,
    push: randomId(random),
    person,
    maker,
    ...(key !== undefined && { key }),
    created_at: Math.floor(clock.now()),
  };
  await add(parts, subscription);
  // The grant may have ended after its token was checked.
  if (!(await isMade(parts, subscription))) {
    await stores.push.unsubscribe(id);
    throw new HttpError(403, 'The permission was revoked meanwhile: ask the person again.');
  }
  const { push } = subscription;
  const link = `<${pathOf(space, { kind: 'push', id: push })}>; rel="urn:ietf:params:push"`;
  const location = origin + pathOf(space, { kind: 'subscription', id });
  return { status: 201, fields: { ...UNSTORED, Location: location, Link: link } };
}

/** Throws HttpError 429 if the person has the most valid subscriptions. */
async function add(parts: PushParts, subscription: PushSubscription): Promise<void> {
  const { push } = parts.stores;
  if ((await push.subscribe(subscription, MOST.subscriptions)) === 'added') return;
  for (const other of await push.subscriptionsOf(subscription.person)) {
    await standingOf(parts, other);
  }
  if ((await push.subscribe(subscription, MOST.subscriptions)) === 'added') return;
  throw new HttpError(
    429,
    `A person has ${MOST.subscriptions} subscriptions at most: end one by DELETE first.`,
    { 'Retry-After': '3600' },
  );
}

/**
 * Returns the key to which the subscription is restricted (RFC 8292 section 4.1). Content of other types is ignored.
 */
async function keyAsked(request: AnyRequest): Promise<string | undefined> {
  const type = single(request.rawHeaders, 'content-type') ?? '';
  if (type.replace(/;.*/s, '').trim().toLowerCase() !== OPTIONS) return undefined;
  const content = await wholeContent(
    request,
    LONGEST_OPTIONS,
    () => new HttpError(413, `The options have more than ${LONGEST_OPTIONS} bytes.`),
  );
  const { vapid } = optionsOf(content);
  if (vapid === undefined) return undefined;
  const key = typeof vapid === 'string' ? p256Point(vapid) : undefined;
  if (key === undefined) {
    throw new HttpError(
      400,
      'The member vapid is base64url of an uncompressed point of P-256 (RFC 8292 section 4.1).',
    );
  }
  return key;
}

function optionsOf(content: Buffer): { readonly vapid?: unknown } {
  const malformed = new HttpError(400, 'The options are no JSON object, or have a member twice.');
  try {
    const options: unknown = parseStrictJson(content);
    if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options;
  } catch {
    throw malformed;
  }
  throw malformed;
}
