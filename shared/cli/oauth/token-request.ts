import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Prover } from './dpop.ts';
import { formPoster } from './form-post.ts';
import type { Send } from '#shared/client/send.ts';
import { findServer } from './server-metadata.ts';
import { type TokenAnswer, tokenAnswer } from './token-answer.ts';

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
  request: ClientCredentialsRequest,
): Promise<TokenAnswer> {
  const { issuer, prover, scope, resource } = request;
  const url = (await findServer(send, issuer)).endpoint('token_endpoint');
  const { fields, params } = authentication(request);
  const form = { grant_type: 'client_credentials', ...params, scope, resource };
  const answer = await formPoster(send, prover)(url, form, fields);
  return tokenAnswer(answer, url, prover ? 'dpop' : 'bearer');
}

/** RFC 6749 section 2.3.1: identifier and secret, form-encoded in the Authorization field or in the body. */
function authentication({ client, secret }: ClientCredentialsRequest) {
  const { client_id: id, token_endpoint_auth_method: method } = client;
  if (method === 'client_secret_post') {
    return { fields: {}, params: { client_id: id, client_secret: secret } };
  }
  const credentials = `${formEncoded(id)}:${formEncoded(secret)}`;
  return {
    fields: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    params: {},
  };
}

const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
