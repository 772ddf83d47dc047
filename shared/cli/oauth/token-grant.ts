import {
  type ClientAuth,
  genericTokenEndpointRequest,
  isDPoPNonceError,
  None,
  processGenericTokenEndpointResponse,
} from 'oauth4webapi';
import type { Send } from '#shared/client/send.ts';
import { Failure } from '../arguments/command.ts';
import type { Prover } from './dpop.ts';
import { jsonObject } from './http.ts';
import { throughLibrary } from './library.ts';
import type { AuthorizationServer } from './server-metadata.ts';

/** How a token is used (RFC 6749 section 7.1). */
export type TokenType = 'dpop' | 'bearer';

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export interface TokenAnswer {
  readonly access_token: string;
  /** As the server writes it, `DPoP` for example; case does not matter. */
  readonly token_type: string;
  /** Seconds. */
  readonly expires_in?: number;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly [member: string]: unknown;
}

/** Members that are undefined are left out. */
export type Form = Readonly<Record<string, string | undefined>>;

/** A request to the token endpoint. */
export interface Grant {
  readonly type: string;
  readonly client: string;
  /** Default: a public client. */
  readonly authentication?: ClientAuth;
  readonly form: Form;
  /** Binds the token to its key. */
  readonly prover?: Prover | undefined;
}

/**
 * Requests a token (RFC 6749 section 4), with a DPoP proof if there is a prover, and once more if the server demands a
 * nonce (RFC 9449 section 8). Throws `Failure` if the answer has no token of the requested type, and the errors of
 * `throughLibrary`.
 */
export async function requestGrant(
  send: Send,
  server: AuthorizationServer,
  { type, client: client_id, authentication = None(), form, prover }: Grant,
): Promise<TokenAnswer> {
  const url = server.endpoint('token_endpoint');
  const { metadata } = server;
  const client = { client_id };
  const { value: answer, reply } = await throughLibrary(send, async (options) => {
    const ask = async () => {
      const response = await genericTokenEndpointRequest(
        metadata,
        client,
        authentication,
        type,
        given(form),
        { ...options, ...(prover && { DPoP: prover.handle }) },
      );
      return processGenericTokenEndpointResponse(metadata, client, response);
    };
    return ask().catch((error: unknown) => {
      if (prover && isDPoPNonceError(error)) return ask();
      throw error;
    });
  });
  const wanted: TokenType = prover ? 'dpop' : 'bearer';
  // The library writes `token_type` in lower case.
  const token_type = String(jsonObject(reply, url)['token_type']);
  if (answer.token_type === wanted) return { ...answer, token_type };
  throw new Failure(`${url} gave a token of type ${token_type}, not ${wanted}`);
}

export function given(form: Form): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    if (value !== undefined) params.append(name, value);
  }
  return params;
}
