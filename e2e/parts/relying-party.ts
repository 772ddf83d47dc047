import * as client from 'openid-client';
import type { Callback } from './callback.ts';

export type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** One authorization request and its results. */
export interface Asked {
  /** The URL to which the client sends the browser. */
  readonly url: string;
  /** The request by which the browser brought the answer to the client. */
  answer(): Promise<Request>;
  /**
   * Waits for the answer, checks `state` and `iss`, and redeems the code. Rejects with
   * `AuthorizationResponseError` for an error answer.
   */
  tokens(): Promise<Tokens>;
}

/** A public client for sign-in: openid-client with PKCE. */
export class RelyingParty {
  readonly clientId: string;
  readonly #configuration: client.Configuration;
  readonly #callback: Callback;

  constructor(clientId: string, configuration: client.Configuration, callback: Callback) {
    this.clientId = clientId;
    this.#configuration = configuration;
    this.#callback = callback;
  }

  /** Makes an authorization request; `parameters` override the usual parameters. */
  async ask(parameters: Readonly<Record<string, string>> = {}): Promise<Asked> {
    const verifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const url = client.buildAuthorizationUrl(this.#configuration, {
      redirect_uri: this.#callback.uri,
      scope: 'openid documents:read documents:write',
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...parameters,
    });
    const answer = () => this.#callback.answer(state);
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    return {
      url: url.href,
      answer,
      tokens: async () =>
        client.authorizationCodeGrant(this.#configuration, await answer(), checks),
    };
  }

  /** Rejects with `ResponseBodyError` if the token is refused. */
  async refresh(refreshToken: string): Promise<Tokens> {
    return client.refreshTokenGrant(this.#configuration, refreshToken);
  }

  /** The URL for sign-out (OpenID Connect RP-Initiated Logout 1.0). */
  signOutUrl(parameters: Readonly<Record<string, string>>): string {
    return client.buildEndSessionUrl(this.#configuration, { ...parameters }).href;
  }
}

/** Sets the client up from the authorization server's metadata. */
export async function relyingParty(
  issuer: string,
  clientId: string,
  callback: Callback,
): Promise<RelyingParty> {
  const configuration = await client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    client.None(),
    { execute: [client.allowInsecureRequests] },
  );
  return new RelyingParty(clientId, configuration, callback);
}
