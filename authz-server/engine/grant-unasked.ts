import type { KoaContextWithOIDC } from 'oidc-provider';
import { findSignIn, recordSignIn, type SignIn } from '#shared/people/access/sign-ins.ts';
import { createGiveGrant } from '../pages/interaction/give-grant.ts';
import { PageError } from '../pages/page-error.ts';
import type { AuthzServer } from '../server.ts';

/** All that a client of a sign-in may ask for. */
const OPENID = { id: 'openid', text: 'openid', scope: 'openid', required: true };

/**
 * The id of a grant for the client of a sign-in, which ends with the session of the browser; undefined: that has
 * just ended, or somebody is yet to sign in.
 */
export async function grantUnasked(
  server: AuthzServer,
  { oidc }: KoaContextWithOIDC,
): Promise<string | undefined> {
  const { session, client, account, result, provider } = oidc;
  if (session?.uid === undefined || account === undefined || client === undefined) return undefined;
  const submitted = result?.['signIn'] as Omit<SignIn, 'uid' | 'accountId'> | undefined;
  const { uid } = session;
  const { accountId } = account;
  // The engine writes its session, and with it the sign-in, when it answers.
  if (submitted) {
    await recordSignIn(server, { ...submitted, uid, accountId }, server.config.people.session);
  }
  const signIn = await findSignIn(server, uid);
  if (signIn?.accountId !== accountId) return undefined;
  const { clientId } = client;
  try {
    return await createGiveGrant(server, provider)({ clientId, signIn, allowed: [OPENID] });
  } catch (error) {
    if (error instanceof PageError) return undefined;
    throw error;
  }
}
