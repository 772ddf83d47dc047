import type { AccessStore } from './access-store.ts';
import { endGrant, listAccess } from './grants.ts';

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

/** Keeps it for `seconds`, the life of a session. */
export async function recordSignIn(
  { stores }: AccessStore,
  signIn: SignIn,
  seconds: number,
): Promise<void> {
  await stores.artefacts.put({
    kind: 'SignIn',
    id: signIn.uid,
    payload: { ...signIn },
    seconds,
  });
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

/** All browsers in which the person is signed in, the latest first. */
export async function listSignIns(
  { stores }: AccessStore,
  accountId: string,
): Promise<readonly SignIn[]> {
  const generation = await stores.revocations.generation('person', accountId);
  const found = await stores.artefacts.listByAccount('SignIn', accountId);
  return found
    .flatMap((payload) => asSignIn(payload) ?? [])
    .filter((signIn) => signIn.generation >= generation)
    .toSorted((a, b) => b.since - a.since);
}

/** Signs that browser out and ends the grants that end with it. */
export async function endSignIn(store: AccessStore, { uid, accountId }: SignIn): Promise<void> {
  await store.stores.artefacts.remove('SignIn', uid);
  for (const access of await listAccess(store, accountId)) {
    if (access.signIn === uid) await endGrant(store, access.grantId);
  }
}

/** Written by `recordSignIn` alone, so its members need no second check. */
function asSignIn(payload: Record<string, unknown> | undefined): SignIn | undefined {
  return payload as SignIn | undefined;
}
