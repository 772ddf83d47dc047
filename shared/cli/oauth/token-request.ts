import { ClientSecretBasic, ClientSecretPost } from 'oauth4webapi';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Prover } from './dpop.ts';
import type { Send } from '#shared/client/send.ts';
import { findServer } from './server-metadata.ts';
import { requestGrant, type TokenAnswer } from './token-grant.ts';

export interface ClientCredentialsRequest {
  readonly issuer: string;
  readonly client: Pick<ClientRecord, 'client_id' | 'token_endpoint_auth_method'>;
  readonly secret: string;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  /** Binds the token to its key (RFC 9449). */
  readonly prover?: Prover | undefined;
}

/** Gets a token with the client credentials grant (RFC 6749 section 4.4). Throws `Failure` with the reason. */
export async function requestToken(
  send: Send,
  { issuer, client, secret, scope, resource, prover }: ClientCredentialsRequest,
): Promise<TokenAnswer> {
  const { client_id, token_endpoint_auth_method: method } = client;
  return requestGrant(send, await findServer(send, issuer), {
    type: 'client_credentials',
    client: client_id,
    // RFC 6749 section 2.3.1
    authentication: (method === 'client_secret_post' ? ClientSecretPost : ClientSecretBasic)(
      secret,
    ),
    form: { scope, resource },
    prover,
  });
}
