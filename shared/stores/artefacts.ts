/** What `oidc-provider` keeps, one kind for each of its models (Grant, Session, RefreshToken ...). */
export interface Artefact {
  readonly kind: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Seconds until it is forgotten; absent: never. */
  readonly seconds?: number;
}

/** How an attempt to use something that may be used once has ended. */
export type Consumption = 'first' | 'again' | 'absent';

/** The kinds that can be listed by `payload.accountId`: what a person sees and ends. */
export const KINDS_BY_ACCOUNT: ReadonlySet<string> = new Set(['SignIn', 'Access']);

/**
 * Storage of the engine's artefacts. `payload.grantId`, `payload.uid` and `payload.userCode`, where
 * they are strings, are the lookup keys besides the id. What has expired is absent.
 */
export interface Artefacts {
  /** Writes the artefact, replacing an earlier one. `consumed` survives a replacement. */
  put(artefact: Artefact): Promise<void>;
  /** The payload, with `consumed` (NumericDate) in it once it was consumed. */
  get(kind: string, id: string): Promise<Record<string, unknown> | undefined>;
  getByUid(kind: string, uid: string): Promise<Record<string, unknown> | undefined>;
  getByUserCode(kind: string, userCode: string): Promise<Record<string, unknown> | undefined>;
  /** Atomic: of any number of callers, in any number of processes, exactly one is told `first`. */
  consume(kind: string, id: string): Promise<Consumption>;
  /**
   * Writes the artefact if the payload that is stored is still `was`, as `get` gave it, and was not
   * consumed. Atomic: of any number of callers who read the same payload exactly one is told true.
   */
  replace(artefact: Artefact, was: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** The payloads of one of `KINDS_BY_ACCOUNT` whose `payload.accountId` is `accountId`, in no order. */
  listByAccount(kind: string, accountId: string): Promise<readonly Record<string, unknown>[]>;
  remove(kind: string, id: string): Promise<void>;
  /** Removes every artefact of all kinds whose `payload.grantId` is `grantId`. */
  removeByGrant(grantId: string): Promise<void>;
}
