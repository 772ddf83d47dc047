import { None, processRevocationResponse, revocationRequest } from 'oauth4webapi';
import type { Send } from '#shared/client/send.ts';
import type { Login } from './login.ts';
import { throughLibrary } from './library.ts';
import { findServer } from './server-metadata.ts';

/**
 * RFC 7009 section 2.1: revokes the refresh token, and with it the grant and its access tokens; without one, the access
 * token. Throws `Failure` if the server did not revoke it.
 */
export async function revokeLogin(send: Send, login: Login): Promise<void> {
  const { issuer, client_id, access_token, refresh_token } = login;
  const server = await findServer(send, issuer);
  server.endpoint('revocation_endpoint');
  const hint = refresh_token === undefined ? 'access_token' : 'refresh_token';
  const token = refresh_token ?? access_token;
  await throughLibrary(send, async (options) => {
    const additionalParameters = { token_type_hint: hint };
    const more = { ...options, additionalParameters };
    await processRevocationResponse(
      await revocationRequest(server.metadata, { client_id }, None(), token, more),
    );
  });
}
