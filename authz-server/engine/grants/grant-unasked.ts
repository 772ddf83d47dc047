import type { KoaContextWithOIDC } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { findSignIn, recordSignIn, type SignIn } from '#shared/people/access/sign-ins.ts';
import { askedScopes } from '../../consent/asked.ts';
import { createGiveGrant } from '../../consent/give-grant.ts';
import type { AuthzServer } from '../../base/server.ts';
import { consented } from '../../consent/consented.ts';

/**
 * The id of a grant for this browser, of what the person need not be asked about; it ends with the session like one
 * that was asked for. `extend`: the one that the browser has, if it lacks something. Undefined: they have to be asked,
 * the session has just ended, or somebody is yet to sign in.
 */
export async function grantUnasked(
  server: AuthzServer,
  { oidc }: KoaContextWithOIDC,
  extend: string | undefined,
): Promise<string | undefined> {
  const { session, account, result, provider, params } = oidc;
  if (session?.uid === undefined || account === undefined || params === undefined) return undefined;
  // The client wants the person to be asked.
  if (oidc.prompts.has('consent')) return undefined;
  const clientId = oidc.client?.clientId ?? '';
  const client = await server.stores.clients.get(clientId);
  if (client === undefined) return undefined;
  const { accountId } = account;
  const asked = askedScopes(server.config, client, params);
  const { redirect_uri: redirectUri } = params;
  const look = () => consented(server, client, accountId, { asked, redirectUri });
  const decision = await look();
  if (decision === undefined) return undefined;

  const submitted = result?.['signIn'] as Omit<SignIn, 'uid' | 'accountId'> | undefined;
  const { uid } = session;
  // The engine writes its session, and with it the sign-in, when it answers.
  if (submitted) {
    await recordSignIn(server, { ...submitted, uid, accountId }, server.config.people.session);
  }
  const signIn = await findSignIn(server, uid);
  if (signIn?.accountId !== accountId) return undefined;
  const giveGrant = createGiveGrant(server, provider);
  const grantId = await giveGrant({ clientId, signIn, redirectUri, extend, ...decision });
  if (grantId === undefined) return undefined;
  // Ending an application removes the consent first and then looks for its grants.
  const now = await look();
  if (now && decision.allowed.every((item) => now.allowed.includes(item))) return grantId;
  await endGrant(server, grantId);
  return undefined;
}
