import { setImmediate } from 'node:timers/promises';
import type { Slice } from '#shared/stores/oauth/artefacts.ts';
import type { AccessStore } from './access-store.ts';
import { endGrant } from './grants.ts';
import { surplus, walk } from './walk.ts';

/** As many browsers as a person is signed in with at a time. */
export const MOST_SIGN_INS = 50;

/**
 * That a person signed in with a browser: what stands behind the engine's Session, under the same
 * `uid`. The engine writes its Session again and again; this is written once and removed once, so that
 * a session that was ended stays ended, whatever is in flight.
 */
export interface SignIn {
  readonly uid: string;
  readonly accountId: string;
  /** The person's generation when the password was checked. */
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly address?: string;
  readonly agent?: string;
}

/** Keeps it for `seconds`, the life of a session. A person who has `MOST_SIGN_INS` loses the oldest. */
export async function recordSignIn(
  store: AccessStore,
  signIn: SignIn,
  seconds: number,
): Promise<void> {
  const { uid, accountId } = signIn;
  const payload = { ...signIn };
  await store.stores.artefacts.put({ kind: 'SignIn', id: uid, payload, seconds });
  for (const old of await surplus(store, 'SignIn', accountId, MOST_SIGN_INS)) {
    await endSignIn(store, { uid: String(old['uid']), accountId });
  }
}

/** Undefined when it has ended: by itself, by its end, or because everything of the person was ended. */
export async function findSignIn(
  { stores }: AccessStore,
  uid: string,
): Promise<SignIn | undefined> {
  const signIn = asSignIn(await stores.artefacts.get('SignIn', uid));
  if (signIn === undefined) return undefined;
  const generation = await stores.revocations.generation('person', signIn.accountId);
  return signIn.generation < generation ? undefined : signIn;
}

/** The browsers in which the person is signed in, all or a slice of them; in that the latest first. */
export async function listSignIns(
  { stores }: AccessStore,
  accountId: string,
  slice?: Slice,
): Promise<readonly SignIn[]> {
  const generation = await stores.revocations.generation('person', accountId);
  const found = await stores.artefacts.listByAccount('SignIn', accountId, slice);
  return found
    .flatMap((payload) => asSignIn(payload) ?? [])
    .filter((signIn) => signIn.generation >= generation)
    .toSorted((a, b) => b.since - a.since);
}

/** Signs that browser out and ends the grants that end with it. */
export async function endSignIn(
  store: AccessStore,
  { uid, accountId }: Pick<SignIn, 'uid' | 'accountId'>,
): Promise<void> {
  await removeSignIns(store, uid);
  const within: string[] = [];
  for await (const { signIn, grantId } of walk(store, 'Access', accountId)) {
    if (signIn === uid) within.push(String(grantId));
  }
  for (const grantId of within) {
    await endGrant(store, grantId);
    await setImmediate();
  }
}

/** Forgets sign-ins, and the engine's Sessions, which say nothing without them. */
export async function removeSignIns(
  { stores: { artefacts } }: AccessStore,
  ...uids: readonly string[]
): Promise<void> {
  await artefacts.remove('SignIn', ...uids);
  const sessions = await Promise.all(uids.map((uid) => artefacts.getByUid('Session', uid)));
  await artefacts.remove('Session', ...sessions.flatMap((one) => (one ? String(one['jti']) : [])));
}

/** Written by `recordSignIn` alone, so its members need no second check. */
function asSignIn(payload: Record<string, unknown> | undefined): SignIn | undefined {
  return payload as SignIn | undefined;
}
