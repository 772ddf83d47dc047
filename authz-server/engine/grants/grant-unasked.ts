import type { KoaContextWithOIDC } from 'oidc-provider';
import { endGrant } from '#shared/people/access/grants.ts';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import { askedScopes } from '../../consent/asked.ts';
import { createGiveGrant } from '../../consent/give-grant.ts';
import type { AuthzServer } from '../../base/server.ts';
import { consented } from '../../consent/consented.ts';
import { recordSubmitted, submittedSignIn } from '../storage/sign-in-events.ts';

/**
 * Returns the id of a grant for this browser with the scopes for which the person need not be asked. The grant ends
 * with the session, like a grant for which the person was asked. `extend` is the browser's present grant, if it lacks
 * something. Returns undefined if the person must be asked or must sign in first, or if the session has just ended.
 */
export async function grantUnasked(
  server: AuthzServer,
  { oidc }: KoaContextWithOIDC,
  extend: string | undefined,
): Promise<string | undefined> {
  const { session, account, provider, params } = oidc;
  if (session?.uid === undefined || account === undefined || params === undefined) return undefined;
  // The client requires the consent page.
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

  const submitted = submittedSignIn();
  const { uid } = session;
  // The engine writes its session, and the sign-in together with it, when it answers.
  if (submitted) {
    await recordSubmitted(server, { ...submitted, uid, accountId });
  }
  const signIn = await findSignIn(server, uid);
  if (signIn?.accountId !== accountId) return undefined;
  const giveGrant = createGiveGrant(server, provider);
  const grantId = await giveGrant({ clientId, signIn, redirectUri, extend, ...decision });
  if (grantId === undefined) return undefined;
  // The code that ends an application's access removes the consent first and then looks for its grants.
  const now = await look();
  if (now && decision.allowed.every((item) => now.allowed.includes(item))) return grantId;
  await endGrant(server, grantId);
  return undefined;
}
