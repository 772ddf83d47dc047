import { setImmediate } from 'node:timers/promises';
import type { Slice } from '#shared/stores/oauth/artefacts.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access-store.ts';
import type { Assurance } from './assurance.ts';
import { endGrant } from './grants.ts';
import { surplus, walk } from './walk.ts';

/** Most browsers in which a person is signed in. */
export const MOST_SIGN_INS = 50;

/**
 * The sign-in of a person with a browser, kept under the same `uid` as the engine's Session. The engine writes its
 * Session repeatedly; this record is written once and removed once, so that an ended session stays ended, whatever
 * requests are in flight.
 */
export interface SignIn {
  readonly uid: string;
  readonly accountId: string;
  /** The person's generation when the password was checked. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly assurance: Assurance;
  /** The passkey that was used: with it the sign-in ends. */
  readonly passkey?: string;
  readonly address?: string;
  readonly agent?: string;
}

/** A sign-in with the time when its browser was last seen here, in milliseconds since the epoch. */
export interface ListedSignIn extends SignIn {
  readonly lastSeen?: number;
}

/** How somebody signed in. */
export type Means = Pick<SignIn, 'assurance' | 'passkey'>;

/**
 * Keeps a sign-in for `seconds`, the life of a session. A person with `MOST_SIGN_INS` loses the oldest. The sign-in ends at
 * once if its passkey was removed meanwhile: whoever removes one looks for its sign-ins afterwards. `events` are recorded with it.
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
  const { passkey } = signIn;
  if (passkey !== undefined && (await store.stores.passkeys.get(passkey)) === undefined) {
    await endSignIn(store, signIn);
  }
}

/** The parts of the stores that tell whether a sign-in stands. */
export interface SignInStores {
  readonly artefacts: Pick<Stores['artefacts'], 'get'>;
  readonly revocations: Pick<Stores['revocations'], 'generation'>;
}

/** Finds a sign-in. Returns undefined if it expired, was ended, or everything of the person was ended. */
export async function findSignIn(
  { stores }: { readonly stores: SignInStores },
  uid: string,
): Promise<SignIn | undefined> {
  const signIn = asSignIn(await stores.artefacts.get('SignIn', uid));
  if (signIn === undefined) return undefined;
  const generation = await stores.revocations.generation('person', signIn.accountId);
  return signIn.generation < generation ? undefined : signIn;
}

/** Remembers for `seconds`, the life of a session, that the browser of a sign-in was seen now. */
export async function noteSeen(
  { stores, clock }: AccessStore,
  uid: string,
  seconds: number,
): Promise<void> {
  const payload = { uid, at: clock.now() };
  await stores.artefacts.put({ kind: 'LastSeen', id: uid, payload, seconds });
}

/** Lists the browsers in which a person is signed in, all or a slice; within it the latest first. */
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
 * Signs a browser out and ends the grants that depend on the sign-in. `events` are recorded if it was signed in. The grants end
 * first, so that all of it can be repeated if a revocation fails, and again afterwards, for one that was made between.
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

/** Forgets sign-ins, and the engine's Sessions, which are not valid without them. */
export async function removeSignIns(
  { stores: { artefacts } }: AccessStore,
  ...uids: readonly string[]
): Promise<void> {
  await artefacts.remove('SignIn', ...uids);
  await artefacts.remove('LastSeen', ...uids);
  const sessions = await Promise.all(uids.map((uid) => artefacts.getByUid('Session', uid)));
  await artefacts.remove('Session', ...sessions.flatMap((one) => (one ? String(one['jti']) : [])));
}

/** Only `recordSignIn` writes it, so its members need no second check. */
function asSignIn(payload: Record<string, unknown> | undefined): SignIn | undefined {
  return payload as SignIn | undefined;
}
