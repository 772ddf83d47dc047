import type { Vapid } from '#shared/auth/schemes/vapid/vapid.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { PushLimits } from '#shared/stores/push/push.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Space } from '../space/spaces.ts';
import type { News } from './news.ts';
import type { SubscriptionParts } from './subscriptions.ts';

/** The parts of the resources of a push service. */
export interface PushParts extends SubscriptionParts {
  readonly stores: SubscriptionParts['stores'] & Pick<Stores, 'limits'>;
  readonly vapid: Vapid;
  readonly news: News;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds of silence after which a connection is closed. */
  readonly idleTimeout: number;
  /** The origin of the server over TLS, if there is one beside the origin in clear text. */
  readonly secureOrigin?: string | undefined;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

/** A request to a resource of a push service. */
export interface PushRequest extends Pick<
  Exchange,
  'request' | 'response' | 'origin' | 'passed' | 'mark' | 'watch'
> {
  readonly space: Space;
  /** The id in the URL. */
  readonly id: string;
}

/** The limits of a push service (RFC 8030 section 7.2). */
export const MOST: PushLimits & {
  readonly subscriptions: number;
  readonly receiptSubscriptions: number;
} = {
  /** The most subscriptions of one person. */
  subscriptions: 50,
  messages: 100,
  /** The most receipt subscriptions requested at one push resource. */
  receiptSubscriptions: 10,
  receipts: 1000,
};
