import { setImmediate } from 'node:timers/promises';
import type { Identity } from '#shared/stores/people/people.ts';
import type { Slice } from '#shared/stores/oauth/artefacts.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access-store.ts';
import type { Assurance } from './assurance.ts';
import { identityAlias } from '../names/aliases.ts';
import { endGrant } from './grants.ts';
import { surplus, walk } from './walk.ts';

/** Most browsers in which a person may be signed in. */
export const MOST_SIGN_INS = 50;

/**
 * The sign-in of a person in a browser, stored under the same `uid` as the engine's Session. The engine writes its
 * Session repeatedly, but this record is written once and removed once. So an ended session stays ended, whatever
 * requests are in flight.
 */
export interface SignIn {
  readonly uid: string;
  readonly accountId: string;
  /** The person's generation at the password check. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly assurance: Assurance;
  /** The passkey that was used; removing the passkey ends the sign-in. */
  readonly passkey?: string;
  /** The account elsewhere that was used; removing the link to it ends the sign-in. */
  readonly identity?: Identity;
  /** The session there, for a logout that the source sends. */
  readonly sid?: string;
  readonly address?: string;
  readonly agent?: string;
}

/** A sign-in with the time of its browser's last request, in milliseconds since the epoch. */
export interface ListedSignIn extends SignIn {
  readonly lastSeen?: number;
}

/** How a person signed in. */
export type Means = Pick<SignIn, 'assurance' | 'passkey' | 'identity' | 'sid'>;

/**
 * Stores a sign-in for `seconds`, the life of a session. A person with `MOST_SIGN_INS` loses the oldest. The sign-in
 * ends at once if its passkey or the link to its account elsewhere was removed meanwhile: such a removal also looks for
 * sign-ins afterwards.
 * `events` are recorded with it.
 */
export async function recordSignIn(
  store: AccessStore,
  signIn: SignIn,
  seconds: number,
  ...events: readonly AuditEvent[]
): Promise<void> {
  const { uid, accountId } = signIn;
  const payload = { ...signIn };
  const artefact = { kind: 'SignIn', id: uid, payload, seconds };
  await changing(store, 'artefacts', ...events).put(artefact);
  for (const old of await surplus(store, 'SignIn', accountId, MOST_SIGN_INS)) {
    await endSignIn(store, { uid: String(old['uid']), accountId });
  }
  const { passkey, identity } = signIn;
  const isGone =
    (passkey !== undefined && (await store.stores.passkeys.get(passkey)) === undefined) ||
    (identity !== undefined &&
      (await store.stores.people.getByAlias(identityAlias(identity)))?.id !== accountId);
  if (isGone) await endSignIn(store, signIn);
}

/** The stores that decide whether a sign-in is valid. */
export interface SignInStores {
  readonly artefacts: Pick<Stores['artefacts'], 'get'>;
  readonly revocations: Pick<Stores['revocations'], 'generation'>;
}

/** Finds a sign-in. Returns undefined if it expired, was ended, or all access of the person was ended. */
export async function findSignIn(
  { stores }: { readonly stores: SignInStores },
  uid: string,
): Promise<SignIn | undefined> {
  const signIn = asSignIn(await stores.artefacts.get('SignIn', uid));
  if (signIn === undefined) return undefined;
  const generation = await stores.revocations.generation('person', signIn.accountId);
  return signIn.generation < generation ? undefined : signIn;
}

/** Stores for `seconds`, the life of a session, that the browser of a sign-in sent a request now. */
export async function noteSeen(
  { stores, clock }: AccessStore,
  uid: string,
  seconds: number,
): Promise<void> {
  const payload = { uid, at: clock.now() };
  await stores.artefacts.put({ kind: 'LastSeen', id: uid, payload, seconds });
}

/** Lists the browsers in which a person is signed in, all or a slice; a slice is sorted with the latest first. */
export async function listSignIns(
  { stores }: AccessStore,
  accountId: string,
  slice?: Slice,
): Promise<readonly ListedSignIn[]> {
  const generation = await stores.revocations.generation('person', accountId);
  const found = await stores.artefacts.listByAccount('SignIn', accountId, slice);
  const live = found
    .flatMap((payload) => asSignIn(payload) ?? [])
    .filter((signIn) => signIn.generation >= generation)
    .toSorted((a, b) => b.since - a.since);
  const seen = live.map(async (signIn) => {
    const at = (await stores.artefacts.get('LastSeen', signIn.uid))?.['at'];
    return Object.assign(signIn, typeof at === 'number' && { lastSeen: at });
  });
  return Promise.all(seen);
}

/**
 * Signs a browser out and ends the grants that depend on the sign-in. `events` are recorded if the browser was signed
 * in. The grants end first, so that the whole can be repeated if a revocation fails. They end once more afterwards,
 * since a grant may have been made in between.
 */
export async function endSignIn(
  store: AccessStore,
  { uid, accountId }: Pick<SignIn, 'uid' | 'accountId'>,
  ...events: readonly AuditEvent[]
): Promise<void> {
  const endGrants = async () => {
    const within: string[] = [];
    for await (const { signIn, grantId } of walk(store, 'Access', accountId)) {
      if (signIn === uid) within.push(String(grantId));
    }
    for (const grantId of within) {
      await endGrant(store, grantId);
      await setImmediate();
    }
  };
  await endGrants();
  if (events.length > 0) await changing(store, 'artefacts', ...events).remove('SignIn', uid);
  await removeSignIns(store, uid);
  await endGrants();
}

/** Removes sign-ins, and the engine's Sessions, which are not valid without them. */
export async function removeSignIns(
  { stores: { artefacts } }: AccessStore,
  ...uids: readonly string[]
): Promise<void> {
  await artefacts.remove('SignIn', ...uids);
  await artefacts.remove('LastSeen', ...uids);
  const sessions = await Promise.all(uids.map((uid) => artefacts.getByUid('Session', uid)));
  await artefacts.remove('Session', ...sessions.flatMap((one) => (one ? String(one['jti']) : [])));
}

/** Only `recordSignIn` writes these records, so their members need no second check. */
function asSignIn(payload: Record<string, unknown> | undefined): SignIn | undefined {
  return payload as SignIn | undefined;
}
