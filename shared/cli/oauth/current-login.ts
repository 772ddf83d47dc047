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
 * The login of this user, with an access token that has not expired. Of any number of processes that find
 * it expired one refreshes it, and the file has the successor before anybody uses it. Undefined when
 * nobody is logged in; throws `Failure` when the login has ended.
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

/** A token that cannot be replaced is used to its end. */
function isFresh({ expires_at: end, refresh_token }: Login, { clock }: Shell): boolean {
  return end === undefined || end - (refresh_token === undefined ? 0 : MARGIN) > clock.now();
}

/** RFC 6749 section 6; the successor of a refresh token that is rotated replaces it. */
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
