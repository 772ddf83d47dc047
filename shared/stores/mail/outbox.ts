/** A message that waits to be sent by mail. Its text and its links are made when it is sent. */
export interface OutboxMessage {
  /** Unique among the waiting messages. */
  readonly id: string;
  /** The recipient. The address is looked up when the message is sent. */
  readonly accountId: string;
  readonly kind: string;
  /** The language of its text. */
  readonly language: string;
  /** Milliseconds since the epoch, like all times in this file. */
  readonly created_at: number;
  /** After this time the message is not sent. */
  readonly until: number;
  /** The address, if it is not the person's verified address. */
  readonly to?: string;
  /** The time of the first attempt. Default: at once. */
  readonly due?: number;
  /** True if the message stands for several messages of its kind. */
  readonly again?: boolean;
  /** Where a sign-in came from; only in a notice of a sign-in. */
  readonly origin?: MessageOrigin;
}

/** A browser, as its request describes it. */
export interface MessageOrigin {
  readonly address?: string;
  /** The name of the browser for people, one line. */
  readonly program: string;
}

/** A message that was taken to be sent. */
export interface TakenMessage extends OutboxMessage {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

/** Most messages of one person in one answer. */
export const MOST_OF_PERSON = 250;

/** The messages that wait to be sent by mail. Each change is atomic and durable, so that a kill loses none. */
export interface Outbox {
  /** False: a message with this id waits, and is unchanged. */
  add(message: OutboxMessage): Promise<boolean>;
  /** Takes up to `count` due messages, the longest waiting first. At `until` they are due again: a process may die. */
  take(now: number, until: number, count: number): Promise<readonly TakenMessage[]>;
  /** Returns the messages that wait for a person, by id, at most `MOST_OF_PERSON`. */
  of(accountId: string): Promise<readonly OutboxMessage[]>;
  /** Makes a message due at `due`, unless it was removed. */
  postpone(id: string, due: number): Promise<void>;
  remove(id: string): Promise<void>;
}
