import { Provider } from 'oidc-provider';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { findSignIn, recordSignIn, type SignIn } from '#shared/people/access/sign-ins.ts';
import type { AdapterStore } from './store.ts';

/** The data that the sign-in page adds to the result of a login (`signIn`). */
type SubmittedSignIn = Omit<SignIn, 'uid' | 'accountId'>;

/** Returns the sign-in of the interaction that is being resumed, if the person has just signed in for it. */
export function submittedSignIn(): SubmittedSignIn | undefined {
  return Provider.ctx?.oidc.result?.['signIn'] as SubmittedSignIn | undefined;
}

/**
 * Stores the sign-in that a person submitted on the way to a client. One request may store it twice: before a grant for
 * which nobody is asked, and with the session. Only the first time is an event.
 */
export async function recordSubmitted(
  store: AccessStore & Pick<AdapterStore, 'config'>,
  signIn: SignIn,
): Promise<void> {
  const { uid, accountId: person, since, address: from, assurance } = signIn;
  const known = await findSignIn(store, uid);
  const isKnown = known?.accountId === person && known.since === since;
  const what = assurance.amr.join(' ');
  const events = isKnown ? [] : [{ kind: 'sign-in', person, what, id: uid } as const];
  const recorder = store.recorder?.by({ who: { person }, how: 'page', from });
  const acting = { ...store, ...(recorder && { recorder }) };
  await recordSignIn(acting, signIn, store.config.people.session, ...events);
}
