import { hash } from 'node:crypto';
import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import type { HashMethod } from '#shared/gnap/interaction-hash.ts';
import type { Assurance } from '#shared/people/access/assurance.ts';
import type { GnapRegistration } from '#shared/stores/oauth/clients.ts';
import type { PagesServer } from '../base/server.ts';
import type { SubjectRequest, TokenRequest } from './grant-request.ts';

/** Seconds for which a request waits for a person. */
export const LIFETIME = 600;

type Store = Pick<PagesServer, 'stores' | 'clock' | 'random'>;

/** A client as it identified itself with a key that it has proved. */
export interface AskingClient {
  readonly clientId: string;
  readonly key: GnapRegistration['key'];
  /** The client's generation when it asked; with it a removed client cannot return through its key. */
  readonly generation: number;
  /** The name that an unknown client gives itself. */
  readonly name?: string;
}

/** The access and other data that a client asks for. */
export interface Wanted {
  readonly tokens: readonly TokenRequest[];
  /** Whether the client asked for a list of tokens and so gets a list (RFC 9635 section 3.2.2). */
  readonly isList: boolean;
  readonly subject?: SubjectRequest;
}

/** How the client is notified that a person has decided (RFC 9635 section 2.5.2). */
export interface Finish {
  readonly method: 'redirect' | 'push';
  readonly uri: string;
  readonly clientNonce: string;
  readonly serverNonce: string;
  readonly hashMethod: HashMethod;
}

/** The person whom a client expects (RFC 9635 section 2.4). */
export interface Expected {
  readonly accountId?: string;
  readonly email?: string;
}

export type Decision =
  | {
      readonly kind: 'approved';
      readonly grantId: string;
      readonly accountId: string;
      /** The time of the sign-in as NumericDate. */
      readonly authTime: number;
      /** Has the meaning of this member of `SignIn`. */
      readonly assurance: Assurance;
    }
  | {
      readonly kind: 'refused';
      readonly code: 'user_denied' | 'unknown_user';
      readonly accountId: string;
    };

/** The origin of a request, for the person who decides and for the audit log. */
export interface Origin {
  readonly address: string;
  readonly agent?: string;
}

/** A grant request that waits for a person or for the return of its client. Times are NumericDates. */
export interface PendingGrant extends AskingClient, Wanted {
  readonly id: string;
  /** Identifies the page on which a person decides. */
  readonly uid: string;
  /** The normalised user code; absent if the client shows none. */
  readonly userCode?: string;
  readonly finish?: Finish;
  readonly locales?: string;
  readonly expected?: Expected;
  readonly from: Origin;
  readonly iat: number;
  readonly exp: number;
  /** The grant that a modification extends (section 5.3). */
  readonly extends?: string;
  readonly decision?: Decision;
  /** The SHA-256 of the interaction reference. It is set with a decision if the client asked for a finish. */
  readonly interactRef?: string;
  /** Whether the client got its answer. */
  readonly taken?: true;
}

/** A grant that a person gave. The client may modify and end it, and may get new tokens. */
export interface GivenGrant extends AskingClient, Wanted {
  readonly id: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly authTime: number;
  readonly assurance: Assurance;
  /** The `jti` of the valid tokens, which end when others replace them. */
  readonly jtis: readonly string[];
  /** NumericDate. */
  readonly exp: number;
}

const PENDING = 'GnapRequest';
const GIVEN = 'GnapGrant';

/** Identifiers of records are hashes, so a reader of the store cannot continue a grant. */
export const hashed = (secret: string): string => hash('sha256', secret, 'base64url');

/** Returns a continuation token with 256 random bits. */
export const newContinuation = ({ random }: Pick<Store, 'random'>): string =>
  randomId(random) + randomId(random);

export async function savePending({ stores }: Store, pending: PendingGrant): Promise<void> {
  await stores.artefacts.put({
    kind: PENDING,
    id: pending.id,
    payload: { ...pending },
    seconds: LIFETIME,
  });
}

/** Replaces a pending grant if it still equals `was`. Of several concurrent calls, one returns true. */
export async function replacePending(
  { stores, clock }: Store,
  pending: PendingGrant,
  was: PendingGrant,
): Promise<boolean> {
  const seconds = pending.exp - epochSeconds(clock);
  const payload = { ...pending };
  if (seconds <= 0) return false;
  return stores.artefacts.replace({ kind: PENDING, id: pending.id, payload, seconds }, { ...was });
}

/** Finds the pending grant of a continuation token's hash. */
export async function findPending(
  { stores, clock }: Store,
  id: string,
): Promise<PendingGrant | undefined> {
  return live(clock, asPending(await stores.artefacts.get(PENDING, id)));
}

/** Finds a pending grant by the identifier of its page. */
export async function findByUid(
  { stores, clock }: Store,
  uid: string,
): Promise<PendingGrant | undefined> {
  return live(clock, asPending(await stores.artefacts.getByUid(PENDING, uid)));
}

/** Finds a pending grant by its normalised user code. */
export async function findByUserCode(
  { stores, clock }: Store,
  userCode: string,
): Promise<PendingGrant | undefined> {
  return live(clock, asPending(await stores.artefacts.getByUserCode(PENDING, userCode)));
}

export const removePending = ({ stores }: Store, id: string): Promise<void> =>
  stores.artefacts.remove(PENDING, id);

/** Stores a grant until `exp`. It ends with the person's permission, which has the id `grantId`. */
export async function saveGiven({ stores, clock }: Store, given: GivenGrant): Promise<void> {
  const seconds = Math.max(1, given.exp - epochSeconds(clock));
  await stores.artefacts.put({ kind: GIVEN, id: given.id, payload: { ...given }, seconds });
}

/** Replaces a given grant if it still equals `was`. Of several concurrent calls, one returns true. */
export async function replaceGiven(
  { stores, clock }: Store,
  given: GivenGrant,
  was: GivenGrant,
): Promise<boolean> {
  const seconds = given.exp - epochSeconds(clock);
  if (seconds <= 0) return false;
  const payload = { ...given };
  return stores.artefacts.replace({ kind: GIVEN, id: given.id, payload, seconds }, { ...was });
}

export async function findGiven({ stores }: Store, id: string): Promise<GivenGrant | undefined> {
  // Only `saveGiven` and `replaceGiven` write the record, so its members are not checked again.
  return (await stores.artefacts.get(GIVEN, id)) as GivenGrant | undefined;
}

/** Only `savePending` and `replacePending` write the record, so its members are not checked again. */
const asPending = (payload: Record<string, unknown> | undefined) =>
  payload as PendingGrant | undefined;

const live = (clock: Store['clock'], pending: PendingGrant | undefined) =>
  pending !== undefined && pending.exp > epochSeconds(clock) ? pending : undefined;
