import { randomUUID } from 'node:crypto';
import type { DpopSession } from '@modelcontextprotocol/client';
import type { Callback } from '../../parts/callback.ts';

/** The part of an MCP application that remembers for the SDK, of either version: `OAuthClientProvider` of both. */
export class Host<Tokens extends object, Discovery extends object> {
  readonly clientMetadataUrl: string;
  readonly redirectUrl: string;
  readonly clientMetadata: { redirect_uris: string[]; grant_types: string[] };
  /** Where the person's browser is to go; undefined: nowhere. */
  sentTo: URL | undefined;
  kept: Tokens | undefined;
  /** Binds the tokens to a key (RFC 9449), which only version 2 can do. */
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

  /** The parameters of the answer that the browser has brought. */
  async answer(): Promise<URLSearchParams> {
    return new URL((await this.#callback.answer(this.#state)).url).searchParams;
  }
}
