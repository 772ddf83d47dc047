/**
 * An application that is to be told that people's sessions have ended (OpenID Connect Back-Channel Logout 1.0).
 */
export interface Logout {
  readonly id: string;
  readonly clientId: string;
  /** The person; absent: all people at the client, which was ended or is now for other people. */
  readonly accountId?: string;
  /** `uid` of the browser's sign-in; absent: all sessions of the person. */
  readonly uid?: string;
}

/** A logout that was taken to be sent. */
export interface TakenLogout extends Logout {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The time of the end, in milliseconds since the epoch, like all times in this file. */
  readonly created: number;
}

/**
 * The logouts that wait to be sent. The verbs that end something write them in the same transaction: `revoke` and
 * `raise` of revocations, `remove` of a `SignIn` and `removeByGrant` of artefacts. They write one for each `Access`
 * with a `uid`, which has none afterwards, so that each end is told once. The end of a person also writes one without
 * `uid` for each client, and `replace` of clients one without a person.
 */
export interface Logouts {
  /** Returns the clients with a logout that is due. */
  due(now: number): Promise<readonly string[]>;
  /**
   * Takes up to `count` due logouts of a client, those of all people and those that were never sent first. At `until` they are due again: a
   * process may die.
   */
  take(
    clientId: string,
    now: number,
    until: number,
    count: number,
  ): Promise<readonly TakenLogout[]>;
  /** Returns up to `count` logouts of an end before `time`, the oldest first. */
  endedBefore(time: number, count: number): Promise<readonly Logout[]>;
  /** Makes a logout due at `due`, unless it was removed. */
  postpone(id: string, due: number): Promise<void>;
  /** False: there is no such logout. */
  remove(id: string): Promise<boolean>;
  /** Counts the logouts, up to 10,000, and returns the time of the oldest end among them. */
  backlog(): Promise<{ readonly count: number; readonly oldest?: number }>;
  /** Returns the clients that wait for a logout of a person. */
  waiting(accountId: string): Promise<readonly string[]>;
}
