/** A stored payload of a model of `oidc-provider` (Grant, Session, RefreshToken ...), or of a kind of our own. */
export interface Artefact {
  readonly kind: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Seconds until it is forgotten; absent: never. */
  readonly seconds?: number;
}

/** The outcome of an attempt to use an artefact once. */
export type Consumption = 'first' | 'again' | 'absent';

/** A use whose result is not known to the client yet. */
export interface Use {
  /** Names the use until it is settled. */
  readonly attempt: string;
  /** An earlier attempt that was never settled, and that this attempt replaces. */
  readonly instead?: string;
  /** The artefact that is added by the use. */
  readonly successor?: Artefact;
}

/** The kinds that are listed by `payload.accountId`: people see and end them. */
export const KINDS_BY_ACCOUNT: ReadonlySet<string> = new Set(['SignIn', 'Access', 'Consent']);

/** The end of an artefact that never expires. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The position of an artefact among those of its kind and client. */
export interface ArtefactPlace {
  /** When it expires, in milliseconds since the epoch, or `NEVER`. */
  readonly end: number;
  readonly id: string;
}

/** A page of the artefacts. */
export interface ArtefactRange {
  readonly limit: number;
  /** The position before the page; the artefact there may be gone. */
  readonly after?: ArtefactPlace | undefined;
}

/** The payloads of a page, and the position before the next page, if there is one. */
export interface ArtefactPage {
  readonly found: readonly Record<string, unknown>[];
  readonly next?: ArtefactPlace;
}

/** A slice of a listing: `count` artefacts after the first `skip`. */
export interface Slice {
  readonly skip: number;
  readonly count: number;
}

/** Kinds that unauthenticated clients add, or that live for seconds. A power cut may lose the last of them. */
export const PASSING_KINDS: ReadonlySet<string> = new Set([
  'ClientDocument',
  'FormAnswer',
  'GnapRequest',
  'Interaction',
  'PushedAuthorizationRequest',
  'Visit',
]);

/**
 * Stores the artefacts of the engine. Strings in `payload.grantId`, `payload.uid` and `payload.userCode` are lookup
 * keys besides the id. Expired artefacts are absent.
 */
export interface Artefacts {
  /** Adds or replaces the artefact. A replacement keeps `consumed`. */
  put(artefact: Artefact): Promise<void>;
  /** Resolves to the payload, with `consumed` (NumericDate) after a use, and `attempt` until the use is settled. */
  get(kind: string, id: string): Promise<Record<string, unknown> | undefined>;
  getByUid(kind: string, uid: string): Promise<Record<string, unknown> | undefined>;
  getByUserCode(kind: string, userCode: string): Promise<Record<string, unknown> | undefined>;
  /**
   * Atomic: exactly one caller in all processes gets `first`. The use and its successor are written both or neither.
   * After a rejection, the caller finds out by `attempt` whether the use was written. A use without `use` is settled at
   * once.
   */
  consume(kind: string, id: string, use?: Use): Promise<Consumption>;
  /** Settles an attempt: no later attempt may replace it. `remains` replaces the payload. */
  settle(kind: string, id: string, attempt: string, remains?: Artefact['payload']): Promise<void>;
  /**
   * Writes the artefact if the stored payload is still `was`, as `get` returned it, and was not consumed. Atomic: of
   * all callers with the same payload exactly one gets true.
   */
  replace(artefact: Artefact, was: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Returns payloads of one of `KINDS_BY_ACCOUNT` of an account, first those that expire last; perhaps too few. */
  listByAccount(
    kind: string,
    accountId: string,
    slice?: Slice,
  ): Promise<readonly Record<string, unknown>[]>;
  /** Returns the number of such payloads, perhaps with some that have just expired. */
  countByAccount(kind: string, accountId: string): Promise<number>;
  /** Returns payloads of `Access` or `Consent` of a client, first those that expire last. Reads only these rows. */
  pageByClient(kind: string, clientId: string, range: ArtefactRange): Promise<ArtefactPage>;
  remove(kind: string, ...ids: readonly string[]): Promise<void>;
  /** Removes every artefact of all kinds whose `payload.grantId` is one of `grantIds`. */
  removeByGrant(...grantIds: readonly string[]): Promise<void>;
}
