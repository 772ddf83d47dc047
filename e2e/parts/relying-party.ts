import * as client from 'openid-client';
import type { Callback } from './callback.ts';

export type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers;

/** One authorization request, and what comes of it. */
export interface Asked {
  /** Where the client sends the browser. */
  readonly url: string;
  /** The request by which the browser brought the answer to the client. */
  answer(): Promise<Request>;
  /**
   * Waits for the answer, checks `state` and `iss`, and redeems the code. Rejects with
   * `AuthorizationResponseError` for an answer that is an error.
   */
  tokens(): Promise<Tokens>;
}

/** A public client that people sign in to: openid-client, with PKCE. */
export class RelyingParty {
  readonly clientId: string;
  readonly #configuration: client.Configuration;
  readonly #callback: Callback;

  constructor(clientId: string, configuration: client.Configuration, callback: Callback) {
    this.clientId = clientId;
    this.#configuration = configuration;
    this.#callback = callback;
  }

  /** A new authorization request; `parameters` go over the usual ones. */
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

  /** Rejects with `ResponseBodyError` when the token is refused. */
  async refresh(refreshToken: string): Promise<Tokens> {
    return client.refreshTokenGrant(this.#configuration, refreshToken);
  }

  /** Where the client sends the browser to sign out (OpenID Connect RP-Initiated Logout 1.0). */
  signOutUrl(parameters: Readonly<Record<string, string>>): string {
    return client.buildEndSessionUrl(this.#configuration, { ...parameters }).href;
  }
}

/** The client as it knows the authorization server: by its metadata. */
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
