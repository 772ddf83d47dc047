import type { ClientRecord } from '#shared/stores/clients.ts';
import { Failure } from '../command.ts';
import type { Prover } from './dpop.ts';
import { type Answer, jsonObject, parseSafeUrl, type Send } from './http.ts';

export interface TokenRequest {
  readonly issuer: string;
  readonly client: Pick<ClientRecord, 'client_id' | 'token_endpoint_auth_method'>;
  readonly secret: string;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  /** Binds the token to its key (RFC 9449). */
  readonly prover?: Prover | undefined;
}

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: string;
  readonly [member: string]: unknown;
}

/** Gets a token with the client credentials grant (RFC 6749 section 4.4). Throws `Failure` with the reason. */
export async function requestToken(send: Send, request: TokenRequest): Promise<TokenAnswer> {
  const { prover, scope, resource } = request;
  const url = await tokenEndpoint(send, request.issuer);
  const { fields, params } = authentication(request);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...params,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  }).toString();

  const post = async (nonce?: string) =>
    send({
      method: 'POST',
      url,
      fields: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...fields,
        ...(prover && { dpop: await prover.proof({ method: 'POST', url, nonce }) }),
      },
      body,
    });

  const first = await post();
  const nonce = first.fields['dpop-nonce'];
  const retry =
    prover && nonce && first.status === 400 && jsonObject(first, url)['error'] === 'use_dpop_nonce';
  return tokenAnswer(retry ? await post(nonce) : first, url, prover ? 'dpop' : 'bearer');
}

/** RFC 8414 section 3: the metadata of exactly this issuer says where its token endpoint is. */
async function tokenEndpoint(send: Send, issuer: string): Promise<string> {
  const url = `${issuer}/.well-known/oauth-authorization-server`;
  const answer = await send({ method: 'GET', url });
  if (answer.status !== 200) throw new Failure(`${url} answers ${answer.status}`);
  const metadata = jsonObject(answer, url);
  if (metadata['issuer'] !== issuer)
    throw new Failure(`${url} is of another issuer (RFC 8414 section 3.3)`);
  const endpoint = metadata['token_endpoint'];
  if (typeof endpoint !== 'string' || parseSafeUrl(endpoint) === undefined) {
    throw new Failure(`${url} names no token endpoint that a secret may be sent to`);
  }
  return endpoint;
}

/** RFC 6749 section 2.3.1: identifier and secret, form-encoded in the Authorization field or in the body. */
function authentication({ client, secret }: TokenRequest) {
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

function tokenAnswer(answer: Answer, url: string, type: 'dpop' | 'bearer'): TokenAnswer {
  const body = jsonObject(answer, url);
  if (answer.status !== 200) {
    const { error, error_description: description } = body;
    throw new Failure(
      `${url} answers ${answer.status}: ${[error, description].filter((part) => typeof part === 'string').join(': ')}`,
    );
  }
  const { access_token, token_type } = body;
  if (typeof access_token !== 'string' || typeof token_type !== 'string') {
    throw new Failure(`${url} gave no token`);
  }
  if (token_type.toLowerCase() !== type) {
    throw new Failure(`${url} gave a token of type ${token_type}, not ${type}`);
  }
  return { ...body, access_token, token_type };
}
