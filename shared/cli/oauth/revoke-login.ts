import { formPoster } from './form-post.ts';
import type { Send } from '#shared/client/send.ts';
import type { Login } from './login.ts';
import { findServer } from './server-metadata.ts';
import { OAuthFailure } from './token-answer.ts';

/**
 * RFC 7009 section 2.1: revokes the refresh token, and with it the grant and its access tokens; without
 * one, the access token. Throws `Failure` when the server did not do it.
 */
export async function revokeLogin(send: Send, login: Login): Promise<void> {
  const { issuer, client_id, access_token, refresh_token } = login;
  const url = (await findServer(send, issuer)).endpoint('revocation_endpoint');
  const answer = await formPoster(send)(url, {
    token: refresh_token ?? access_token,
    token_type_hint: refresh_token === undefined ? 'access_token' : 'refresh_token',
    client_id,
  });
  if (answer.status !== 200) throw new OAuthFailure(answer, url);
}
