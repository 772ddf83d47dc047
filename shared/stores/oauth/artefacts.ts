/** A stored payload of `oidc-provider`, with one kind for each of its models (Grant, Session, RefreshToken ...), or of ours. */
export interface Artefact {
  readonly kind: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Seconds until it is forgotten; absent: never. */
  readonly seconds?: number;
}

/** How an attempt to use something that may be used once has ended. */
export type Consumption = 'first' | 'again' | 'absent';

/** A use whose result is not out yet. */
export interface Use {
  /** Names the use until it is settled. */
  readonly attempt: string;
  /** An attempt that was never settled: this one replaces it. */
  readonly instead?: string;
  /** The artefact that the use makes. */
  readonly successor?: Artefact;
}

/** The kinds that can be listed by `payload.accountId`: what a person sees and ends. */
export const KINDS_BY_ACCOUNT: ReadonlySet<string> = new Set(['SignIn', 'Access', 'Consent']);

/** The end of what never expires, among the places of artefacts. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** Where an artefact stands among those of its kind and client. */
export interface ArtefactPlace {
  /** When it expires, in milliseconds since the epoch, or `NEVER`. */
  readonly end: number;
  readonly id: string;
}

/** A part of that order. */
export interface ArtefactRange {
  /** Artefacts at most. */
  readonly limit: number;
  /** Artefacts behind this place, where nothing need stand any more. */
  readonly after?: ArtefactPlace | undefined;
}

/** The payloads of such a part, and where the next one begins, if there is one. */
export interface ArtefactPage {
  readonly found: readonly Record<string, unknown>[];
  readonly next?: ArtefactPlace;
}

/** A slice of a listing: `count` artefacts after the first `skip`. */
export interface Slice {
  readonly skip: number;
  readonly count: number;
}

/**
 * The kinds that somebody unknown can make, such as a request that waits for a person or for the browser, and those that
 * live for seconds. The last ones may be lost when the power fails; a request is then begun anew.
 */
export const PASSING_KINDS: ReadonlySet<string> = new Set([
  'ClientDocument',
  'FormAnswer',
  'GnapRequest',
  'Interaction',
  'PushedAuthorizationRequest',
  'Visit',
]);

/**
 * Storage of the engine's artefacts. `payload.grantId`, `payload.uid` and `payload.userCode`, where
 * they are strings, are the lookup keys besides the id. Expired artefacts are absent.
 */
export interface Artefacts {
  /** Writes the artefact, replacing an earlier one. `consumed` survives a replacement. */
  put(artefact: Artefact): Promise<void>;
  /** The payload, with `consumed` (NumericDate) once it was consumed, and `attempt` until that is settled. */
  get(kind: string, id: string): Promise<Record<string, unknown> | undefined>;
  getByUid(kind: string, uid: string): Promise<Record<string, unknown> | undefined>;
  getByUserCode(kind: string, userCode: string): Promise<Record<string, unknown> | undefined>;
  /**
   * Atomic: of any number of callers, in any number of processes, exactly one is told `first`. The use and
   * its successor are written together or not at all. A rejection says nothing about which of the two
   * happened; a client that tries again finds out by `attempt`. Without `use` it is settled from the beginning.
   */
  consume(kind: string, id: string, use?: Use): Promise<Consumption>;
  /**
   * The result of that attempt is out: nobody steps into its place any more. `remains` takes the place of the
   * payload; its lookup keys are the same.
   */
  settle(kind: string, id: string, attempt: string, remains?: Artefact['payload']): Promise<void>;
  /**
   * Writes the artefact if the payload that is stored is still `was`, as `get` gave it, and was not
   * consumed. Atomic: of any number of callers who read the same payload exactly one is told true.
   */
  replace(artefact: Artefact, was: Readonly<Record<string, unknown>>): Promise<boolean>;
  /**
   * The payloads of one of `KINDS_BY_ACCOUNT` whose `payload.accountId` is `accountId`, first those that
   * live longest; all of them, or fewer than `slice` asks for where some have just ended.
   */
  listByAccount(
    kind: string,
    accountId: string,
    slice?: Slice,
  ): Promise<readonly Record<string, unknown>[]>;
  /** How many of them there are, at least; what has just ended may count. */
  countByAccount(kind: string, accountId: string): Promise<number>;
  /**
   * The payloads of `Access` or `Consent`, which operators see and end, whose `payload.clientId` is `clientId`, first those that live
   * longest; reads these and no others. Fewer than `range` asks for, also none, where some have just ended.
   */
  pageByClient(kind: string, clientId: string, range: ArtefactRange): Promise<ArtefactPage>;
  remove(kind: string, ...ids: readonly string[]): Promise<void>;
  /** Removes every artefact of all kinds whose `payload.grantId` is one of `grantIds`. */
  removeByGrant(...grantIds: readonly string[]): Promise<void>;
}
