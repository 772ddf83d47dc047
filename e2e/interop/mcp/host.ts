import { randomUUID } from 'node:crypto';
import type { DpopSession } from '@modelcontextprotocol/client';
import type { Callback } from '../../parts/callback.ts';

/** The state that an MCP application keeps for the SDK: the `OAuthClientProvider` of both versions. */
export class Host<Tokens extends object, Discovery extends object> {
  readonly clientMetadataUrl: string;
  readonly redirectUrl: string;
  readonly clientMetadata: { redirect_uris: string[]; grant_types: string[] };
  /** The URL to which the SDK sends the person's browser; undefined before. */
  sentTo: URL | undefined;
  kept: Tokens | undefined;
  /** Binds the tokens to a key (RFC 9449). Only version 2 supports this. */
  dpop?: () => Promise<DpopSession>;
  readonly #callback: Callback;
  #state = '';
  #verifier = '';
  #client: { client_id: string; issuer?: string } | undefined;
  #discovery: Discovery | undefined;

  constructor(clientId: string, callback: Callback, grants: string[]) {
    this.clientMetadataUrl = clientId;
    this.redirectUrl = callback.uri;
    this.clientMetadata = { redirect_uris: [callback.uri], grant_types: grants };
    this.#callback = callback;
  }

  state = () => (this.#state = randomUUID());
  clientInformation = () => this.#client;
  saveClientInformation = (client: { client_id: string }) => void (this.#client = client);
  tokens = () => this.kept;
  saveTokens = (tokens: Tokens) => void (this.kept = tokens);
  redirectToAuthorization = (url: URL) => void (this.sentTo = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  discoveryState = () => this.#discovery;
  saveDiscoveryState = (state: Discovery) => void (this.#discovery = state);
  invalidateCredentials = (which: string) => {
    if (which === 'all' || which === 'tokens') this.kept = undefined;
    if (which === 'all' || which === 'client') this.#client = undefined;
    if (which === 'all' || which === 'discovery') this.#discovery = undefined;
  };

  /** The parameters of the answer that the browser brought back. */
  async answer(): Promise<URLSearchParams> {
    return new URL((await this.#callback.answer(this.#state)).url).searchParams;
  }
}
