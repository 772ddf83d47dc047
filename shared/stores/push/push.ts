/** A push message subscription (RFC 8030 section 2.1). All times in this file are in milliseconds since the epoch. */
export interface PushSubscription {
  /** The secret name in its URL. Anybody who knows it can read the messages. */
  readonly id: string;
  /** The secret name of its push resource. Anybody who knows it can send messages. */
  readonly push: string;
  /** The id of the person whose user agent made the subscription. */
  readonly person: string;
  /** The subscription ends with this grant or client. */
  readonly maker: PushMaker;
  /** The key of the only application server that may send (RFC 8292 section 4): base64url of the uncompressed point. */
  readonly key?: string;
  readonly created_at: number;
}

/** The grant that made a subscription, and the client that has it. */
export interface PushMaker {
  readonly grant_id: string;
  readonly client_id: string;
  /** The generation of the client (`Revocations`). */
  readonly client_gen: number;
}

/** From the least urgent to the most urgent (RFC 8030 section 5.3). */
export const URGENCIES = ['very-low', 'low', 'normal', 'high'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** A push message with an opaque body. */
export interface PushMessage {
  /** The name in its URL. */
  readonly id: string;
  readonly subscription: string;
  readonly urgency: Urgency;
  /** A later message with the same topic replaces the message (RFC 8030 section 5.4). */
  readonly topic?: string;
  /** Content-Type and Content-Encoding. */
  readonly type?: string;
  readonly coding?: string;
  readonly body: Buffer;
  readonly posted_at: number;
  /** The message is delivered only before this time (RFC 8030 section 5.2). */
  readonly until: number;
  /** The receipt subscription that gets the outcome (RFC 8030 section 5.1). */
  readonly receipts?: string;
}

/** A message with its position among all messages. */
export interface PlacedMessage extends PushMessage {
  readonly place: number;
}

/** A receipt subscription (RFC 8030 section 5.1). */
export interface ReceiptSubscription {
  readonly id: string;
  /** The push message subscription at whose push resource the receipt subscription was requested. */
  readonly subscription: string;
  readonly until: number;
}

/** `delivered`: the message was acknowledged. `gone`: its subscription ended before (RFC 8030 section 6.3). */
export interface Receipt {
  readonly message: string;
  readonly outcome: 'delivered' | 'gone';
  readonly place: number;
}

export interface PushLimits {
  /** Most messages of a subscription. */
  readonly messages: number;
  /** Most messages and receipts of a receipt subscription. */
  readonly receipts: number;
}

/** `ended`, `no-receipts`: no such subscription, or receipt subscription. `full`, `receipts-full`: it has too much. */
export type Posted = 'added' | 'ended' | 'full' | 'no-receipts' | 'receipts-full';

/** The store of a push service (RFC 8030). No verb returns an expired row. */
export interface Push {
  /** `full`: the person has `most` subscriptions. Atomic. */
  subscribe(subscription: PushSubscription, most: number): Promise<'added' | 'full'>;
  subscription(id: string): Promise<PushSubscription | undefined>;
  subscriptionOf(push: string): Promise<PushSubscription | undefined>;
  /** Returns the subscriptions of a person, the oldest first. */
  subscriptionsOf(person: string): Promise<readonly PushSubscription[]>;
  /** Returns some of all subscriptions after a cursor, by default the first. One may be returned twice. */
  someSubscriptions(cursor?: string): Promise<SomeSubscriptions>;
  /** Removes a subscription and its messages; the receipts are `gone`. False: no such subscription. */
  unsubscribe(id: string): Promise<boolean>;

  /**
   * Adds a message, and removes the message with the same topic without a receipt. The receipt subscription lives at
   * least a day longer than the message. Atomic.
   */
  post(message: PushMessage, limits: PushLimits): Promise<Posted>;
  message(id: string): Promise<PlacedMessage | undefined>;
  /** Returns up to `most` messages after a place with at least this urgency, in order. */
  messages(
    subscription: string,
    after: number,
    least: Urgency,
    most: number,
  ): Promise<readonly PlacedMessage[]>;
  /** Removes a message; its receipt is `delivered`. False: no such message. */
  acknowledge(id: string): Promise<boolean>;

  /** `full`: the push resource has `most` receipt subscriptions. `ended`: no such push subscription. */
  openReceipts(receipts: ReceiptSubscription, most: number): Promise<'added' | 'full' | 'ended'>;
  hasReceipts(id: string): Promise<boolean>;
  /** Removes a receipt subscription and its receipts. False: no such receipt subscription. */
  closeReceipts(id: string): Promise<boolean>;
  /** Returns up to `most` receipts after a place, in order. A receipt stays for a day, or until it is forgotten. */
  receipts(id: string, after: number, most: number): Promise<readonly Receipt[]>;
  forgetReceipt(id: string, message: string): Promise<void>;

  /**
   * Returns the present position, and the subscriptions and receipt subscriptions that may have changed since
   * `position`; the set may have more. Without a position, or if its news are forgotten after a minute, returns all of
   * `ids`.
   */
  news(ids: readonly string[], position?: string): Promise<PushNews>;
}

export interface SomeSubscriptions {
  readonly subscriptions: readonly PushSubscription[];
  /** The position of the next subscriptions. Undefined: no more. */
  readonly cursor: string | undefined;
}

export interface PushNews {
  readonly position: string;
  readonly of: ReadonlySet<string>;
}

/** About the number of subscriptions in one answer. */
export const SOME = 100;
/** Milliseconds for which news are kept. */
export const NEWS_LIFE = 60_000;
/** Milliseconds for which a receipt is kept. */
export const RECEIPT_LIFE = 86_400_000;
