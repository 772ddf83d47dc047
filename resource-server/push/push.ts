import { HttpError, notFound } from '#shared/http/answer.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import type { Target } from '#shared/http/target.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { accepted, optionsFields } from '../space/options.ts';
import type { Space } from '../space/spaces.ts';
import { addressOf, type Kind, METHODS } from './addresses.ts';
import type { PushParts, PushRequest } from './parts.ts';
import {
  acknowledge,
  closeReceipts,
  exists,
  hasReceipts,
  read,
  receipts,
  receive,
  unsubscribe,
} from './resources.ts';
import { send } from './send.ts';
import { subscribe } from './subscribe.ts';
import { createWait } from './wait.ts';
import { setImmediate } from 'node:timers/promises';
import { standingOf, type SubscriptionParts } from './subscriptions.ts';

/** A push service (RFC 8030). */
export interface PushService {
  /**
   * True if the request needs credentials of the space. All other resources are opened by their URL alone. In clear
   * text no request needs credentials, since none should be sent there.
   */
  asks(space: Space, exchange: Pick<Exchange, 'target' | 'origin'>): boolean;
  /** Returns all methods that a resource at the target may have. */
  methods(space: Space, target: Target): readonly string[];
  answer(space: Space, exchange: Exchange): Promise<ResourceAnswer>;
  /** Removes unused resources whose grant has ended. */
  sweep(): Promise<void>;
}

type Perform = (asked: PushRequest) => Promise<ResourceAnswer>;

export function createPush(parts: PushParts): PushService {
  const wait = createWait(parts);
  const fetched: Perform = (asked) => read(parts, asked);
  const performs: Readonly<Record<Kind, Readonly<Record<string, Perform>>>> = {
    subscribe: { POST: (asked) => subscribe(parts, asked) },
    subscription: {
      GET: (asked) => receive(parts, asked, wait),
      HEAD: (asked) => exists(parts, asked),
      DELETE: (asked) => unsubscribe(parts, asked),
    },
    push: { POST: (asked) => send(parts, asked) },
    message: { GET: fetched, HEAD: fetched, DELETE: (asked) => acknowledge(parts, asked) },
    receipts: {
      GET: (asked) => receipts(parts, asked, wait),
      HEAD: (asked) => hasReceipts(parts, asked),
      DELETE: (asked) => closeReceipts(parts, asked),
    },
  };

  return {
    asks: (space, { target, origin }) =>
      addressOf(space, target)?.kind === 'subscribe' && !isClear(origin),
    methods(space, target) {
      const address = addressOf(space, target);
      return address ? METHODS[address.kind] : [];
    },
    async answer(space, exchange) {
      const { request, target } = exchange;
      const { method = '' } = request;
      const address = addressOf(space, target);
      if (address === undefined) throw notFound();
      if (isClear(exchange.origin)) throw inClear(parts.secureOrigin, space);
      const methods = accepted(space, METHODS[address.kind]);
      checkMethod(method, { methods });
      const perform = performs[address.kind][method];
      return perform
        ? perform({ ...exchange, space, id: address.id })
        : { status: 204, fields: optionsFields(methods) };
    },
    sweep: () => sweepSubscriptions(parts),
  };
}

const isClear = (origin: string) => origin.startsWith('http:');

function inClear(secureOrigin: string | undefined, { url }: Space): HttpError {
  const place = secureOrigin === undefined ? 'https' : secureOrigin + new URL(url).pathname;
  return new HttpError(
    403,
    `The push service answers only over TLS (RFC 8030 section 8): use ${place}`,
  );
}

/**
 * Removes the subscriptions whose grant has ended. A subscription that is used is removed at its use, and this removes
 * all others.
 */
async function sweepSubscriptions(parts: Omit<SubscriptionParts, 'standing'>): Promise<void> {
  let cursor: string | undefined;
  do {
    const some = await parts.stores.push.someSubscriptions(cursor);
    for (const one of some.subscriptions) await standingOf(parts, one);
    ({ cursor } = some);
    await setImmediate();
  } while (cursor !== undefined);
}
