import { CLI } from '#shared/base/invocation.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { lockPrivate } from '../files/private-file.ts';
import { loadProver } from './dpop.ts';
import type { Send } from '#shared/client/send.ts';
import { type Login, loginTokens } from './login.ts';
import { loginPath, readLogin, writeLogin } from './login-file.ts';
import { findServer } from './server-metadata.ts';
import { OAuthFailure } from './oauth-failure.ts';
import { requestGrant } from './token-grant.ts';

/** Milliseconds before its expiry from which on an access token is replaced. */
const MARGIN = 30_000;

/**
 * Returns the login of this user, with a valid access token. If several processes find it expired, one of them
 * refreshes it, and stores the new token before any process uses it. Undefined if there is no login. Throws `Failure`
 * if the login has ended.
 */
export async function currentLogin(send: Send, shell: Shell): Promise<Login | undefined> {
  const path = loginPath(shell.env);
  if (path === undefined) return undefined;
  const found = await readLogin(path);
  if (found === undefined || isFresh(found, shell)) return found;
  return lockPrivate(path, shell, async () => {
    const login = await readLogin(path);
    if (login === undefined || isFresh(login, shell)) return login;
    const refreshed = await refresh(send, login, shell);
    await writeLogin(path, refreshed, shell.random);
    return refreshed;
  });
}

export function endedLogin({ issuer }: Login): Failure {
  return new Failure(`the login at ${issuer} has ended: run ${CLI} login`);
}

/** Whether the access token need not be refreshed. A token without a refresh token is used until it expires. */
function isFresh({ expires_at: end, refresh_token }: Login, { clock }: Shell): boolean {
  return end === undefined || end - (refresh_token === undefined ? 0 : MARGIN) > clock.now();
}

/** Refreshes a login (RFC 6749 section 6). A rotated refresh token is replaced by its successor. */
async function refresh(send: Send, login: Login, { clock, random }: Shell): Promise<Login> {
  const { issuer, client_id, refresh_token, resource, private_jwk } = login;
  if (refresh_token === undefined) throw endedLogin(login);
  const server = await findServer(send, issuer);
  const prover = await loadProver(private_jwk, clock, random);
  const form = { refresh_token, resource };
  try {
    const grant = { type: 'refresh_token', client: client_id, form, prover };
    return { ...login, ...loginTokens(await requestGrant(send, server, grant), login, clock) };
  } catch (failure) {
    const ended = failure instanceof OAuthFailure && failure.error === 'invalid_grant';
    throw ended ? endedLogin(login) : failure;
  }
}
