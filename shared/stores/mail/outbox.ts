/** A message that waits to be sent by mail. Its text and its links are made when it is sent. */
export interface OutboxMessage {
  /** Unique among those that wait. */
  readonly id: string;
  /** Whom it is sent to: the address is looked up when it is sent. */
  readonly accountId: string;
  readonly kind: string;
  /** The language of its text. */
  readonly language: string;
  /** Milliseconds since the epoch, as all times here. */
  readonly created_at: number;
  /** From then on it is not worth sending. */
  readonly until: number;
  /** The address, where it is not the one that is known to be the person's. */
  readonly to?: string;
  /** When it is sent first. Default: at once. */
  readonly due?: number;
  /** It stands for several of its kind. */
  readonly again?: boolean;
  /** Where a sign-in came from; of the notice of one alone. */
  readonly origin?: MessageOrigin;
}

/** A browser, as far as it says who it is. */
export interface MessageOrigin {
  readonly address?: string;
  /** Its name for people, one line. */
  readonly program: string;
}

/** A message that was taken to be sent. */
export interface TakenMessage extends OutboxMessage {
  /** Which attempt to send it this is, from 1 on. */
  readonly attempt: number;
}

/** The messages that wait to be sent by mail. Each change is atomic and durable, so that a kill loses none. */
export interface Outbox {
  /** False: one with this id waits already, and stays as it is. */
  add(message: OutboxMessage): Promise<boolean>;
  /**
   * Takes up to `count` messages that are due at `now`, the longest waiting first. Until `until` nobody else gets them;
   * then they are due again, unless they were removed or postponed: whoever took them was killed.
   */
  take(now: number, until: number, count: number): Promise<readonly TakenMessage[]>;
  /** Makes a message due at `due`. It brings back none that was removed. */
  postpone(id: string, due: number): Promise<void>;
  remove(id: string): Promise<void>;
}
