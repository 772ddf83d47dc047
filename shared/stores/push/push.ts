/** A push message subscription (RFC 8030 section 2.1). Times here are in milliseconds since the epoch. */
export interface PushSubscription {
  /** Names it in its URL: whoever knows it reads the messages. */
  readonly id: string;
  /** Names its push resource: whoever knows it sends messages. */
  readonly push: string;
  /** The person whose user agent made it, by id. */
  readonly person: string;
  /** It ends with these. */
  readonly maker: PushMaker;
  /** The application server's key that it is restricted to (RFC 8292 section 4): base64url of the uncompressed point. */
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

/** From the least urgent on (section 5.3). */
export const URGENCIES = ['very-low', 'low', 'normal', 'high'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** A push message. Its body is opaque. */
export interface PushMessage {
  /** Names it in its URL. */
  readonly id: string;
  readonly subscription: string;
  readonly urgency: Urgency;
  /** A later message with the same topic replaces it (section 5.4). */
  readonly topic?: string;
  /** Content-Type and Content-Encoding. */
  readonly type?: string;
  readonly coding?: string;
  readonly body: Buffer;
  readonly posted_at: number;
  /** It is delivered before this time only (section 5.2). */
  readonly until: number;
  /** The receipt subscription that is told what became of it (section 5.1). */
  readonly receipts?: string;
}

/** A message in the order of all messages. */
export interface PlacedMessage extends PushMessage {
  readonly place: number;
}

/** A receipt subscription (section 5.1). */
export interface ReceiptSubscription {
  readonly id: string;
  /** The push message subscription whose push resource it was asked of. */
  readonly subscription: string;
  readonly until: number;
}

/** `delivered`: it was acknowledged. `gone`: its subscription ended before (section 6.3). */
export interface Receipt {
  readonly message: string;
  readonly outcome: 'delivered' | 'gone';
  readonly place: number;
}

/** How much there may be at once. */
export interface PushLimits {
  /** Messages of one subscription. */
  readonly messages: number;
  /** Messages that one receipt subscription is yet to be told of, and receipts that wait there. */
  readonly receipts: number;
}

/**
 * `ended`: there is no such subscription. `full`: it has its most messages. `no-receipts`: there is no such receipt
 * subscription. `receipts-full`: that one has its most.
 */
export type Posted = 'added' | 'ended' | 'full' | 'no-receipts' | 'receipts-full';

/** Rows of a push service (RFC 8030). One that has expired is never returned, though it may still be there. */
export interface Push {
  /** `full`: the person has `most` already. Atomic. */
  subscribe(subscription: PushSubscription, most: number): Promise<'added' | 'full'>;
  subscription(id: string): Promise<PushSubscription | undefined>;
  subscriptionOf(push: string): Promise<PushSubscription | undefined>;
  /** Returns the subscriptions of a person, the oldest first. */
  subscriptionsOf(person: string): Promise<readonly PushSubscription[]>;
  /** Returns some of all subscriptions; one may come twice. Without a cursor it begins. */
  someSubscriptions(cursor?: string): Promise<SomeSubscriptions>;
  /** Removes a subscription and its messages; their receipts are `gone`. False if there is none. */
  unsubscribe(id: string): Promise<boolean>;

  /**
   * Keeps a message, and removes the one with its topic, of which no receipt is sent. The receipt subscription lives
   * at least a day longer than the message. Atomic.
   */
  post(message: PushMessage, limits: PushLimits): Promise<Posted>;
  message(id: string): Promise<PlacedMessage | undefined>;
  /** Returns up to `most` messages after a place that are at least this urgent, in their order. */
  messages(
    subscription: string,
    after: number,
    least: Urgency,
    most: number,
  ): Promise<readonly PlacedMessage[]>;
  /** Removes a message; its receipt is `delivered`. False if there is none. */
  acknowledge(id: string): Promise<boolean>;

  /** `full`: `most` were asked of the same push resource already. `ended`: that subscription is not there. */
  openReceipts(receipts: ReceiptSubscription, most: number): Promise<'added' | 'full' | 'ended'>;
  hasReceipts(id: string): Promise<boolean>;
  /** Removes a receipt subscription and its receipts; nothing is told it any more. False if there is none. */
  closeReceipts(id: string): Promise<boolean>;
  /** Returns up to `most` receipts after a place, in their order. They stay for a day, or until they are forgotten. */
  receipts(id: string, after: number, most: number): Promise<readonly Receipt[]>;
  forgetReceipt(id: string, message: string): Promise<void>;

  /**
   * Returns the position now, and to which of these subscriptions and receipt subscriptions something may have happened
   * since another position. Others may be among them. Without a position all are, and so is each whose news the position
   * does not know. News stay for a minute.
   */
  news(ids: readonly string[], position?: string): Promise<PushNews>;
}

export interface SomeSubscriptions {
  readonly subscriptions: readonly PushSubscription[];
  /** Where the next ones are. Undefined: these were the last. */
  readonly cursor: string | undefined;
}

export interface PushNews {
  readonly position: string;
  readonly of: ReadonlySet<string>;
}

/** Subscriptions, about, that are read at a time. */
export const SOME = 100;
/** Milliseconds that news stay. */
export const NEWS_LIFE = 60_000;
/** Milliseconds that a receipt waits for its application server. */
export const RECEIPT_LIFE = 86_400_000;
