import { Provider } from 'oidc-provider';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { howOf } from '#shared/people/access/assurance.ts';
import {
  endSignIn,
  findSignIn,
  recordSignIn,
  type SignIn,
} from '#shared/people/access/sign-ins.ts';
import type { AdapterStore } from './store.ts';

/** The data that the sign-in page adds to the result of a login (`signIn`). */
type SubmittedSignIn = Omit<SignIn, 'uid' | 'accountId'>;

/** Returns the sign-in of the interaction that is being resumed, if the person has just signed in for it. */
export function submittedSignIn(): SubmittedSignIn | undefined {
  return Provider.ctx?.oidc.result?.['signIn'] as SubmittedSignIn | undefined;
}

/**
 * Stores the sign-in that a person submitted on the way to a client. A request stores it with the session, and before
 * that also for a grant that needs no consent page. The audit log gets one event.
 */
export async function recordSubmitted(
  store: AccessStore & Pick<AdapterStore, 'config'>,
  signIn: SignIn,
): Promise<void> {
  const { uid, accountId: person, since, assurance } = signIn;
  const known = await findSignIn(store, uid);
  const isKnown = known?.accountId === person && known.since === since;
  const what = howOf(assurance);
  const events = isKnown ? [] : [{ kind: 'sign-in', person, what, id: uid } as const];
  await recordSignIn(byPerson(store, person), signIn, store.config.people.session, ...events);
}

/** Ends the sign-in of a person who signs out at the engine (OpenID Connect RP-Initiated Logout 1.0 section 2). */
export async function endSignedOut(store: AccessStore, signIn: SignIn): Promise<void> {
  const { uid: id, accountId: person } = signIn;
  await endSignIn(byPerson(store, person), signIn, { kind: 'sign-in.ended', person, id });
}

/** Returns the store with a recorder that attributes events to the person who sends the engine's request. */
function byPerson<Store extends AccessStore>(store: Store, person: string): Store {
  const recorder = store.recorder?.by({ who: { person }, how: 'page', from: Provider.ctx?.ip });
  return { ...store, ...(recorder && { recorder }) };
}
