import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v2 from '@modelcontextprotocol/client';
import * as v1 from '@modelcontextprotocol/sdk/client/auth.js';
import { CALLBACK } from '../../pair/people-client.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';

type Tokens = NonNullable<Awaited<ReturnType<v1.OAuthClientProvider['tokens']>>>;
type Discovered = v1.OAuthDiscoveryState & v2.OAuthDiscoveryState;

/** The state that a host keeps for the MCP SDK, of either version. */
class Host {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
  /** The last URL to which the SDK sent the browser. */
  sentTo = new URL('about:blank');
  kept: Tokens | undefined;
  readonly #id: string;
  #verifier = '';
  #discovered: Discovered | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  forget = () => void (this.kept = undefined);
  clientInformation = () => ({ client_id: this.#id });
  tokens = () => this.kept;
  saveTokens = (tokens: Tokens) => void (this.kept = tokens);
  redirectToAuthorization = (url: URL) => void (this.sentTo = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  discoveryState = () => this.#discovered;
  saveDiscoveryState = (state: Discovered) => void (this.#discovered = state);
}

let site: OAuthSite;
let clientId: string;
beforeAll(async () => {
  site = await startOAuthSite();
  const added = await site.addClient('--public', '--scope', 'documents:read documents:write');
  clientId = added.id;
});
afterAll(async () => site?.[Symbol.asyncDispose]());

describe.each([
  ['1', v1, null],
  // Version 2 asks for offline_access if the metadata lists it.
  ['2', v2, 'consent'],
] as const)('MCP SDK version %s', (version, sdk, prompt) => {
  const send = (method: string, host?: Host) =>
    fetch(`${site.pair.documents}${method === 'GET' ? '' : `by-${version}.txt`}`, {
      method,
      headers: { authorization: host?.kept ? `Bearer ${host.kept.access_token}` : '' },
      ...(method === 'PUT' && { body: 'by an agent' }),
    });

  /** Leads from a refusal through the pages to tokens. */
  async function authorize(host: Host, refused: Response) {
    const { scope, resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(refused);
    if (scope === undefined || resourceMetadataUrl === undefined) throw new Error('not understood');
    const asked = { serverUrl: site.pair.documents, scope, resourceMetadataUrl };
    expect(await sdk.auth(host, asked)).toBe('REDIRECT');
    const answer = (await site.person.answer(host.sentTo)).searchParams;
    const authorizationCode = answer.get('code') ?? '';
    const iss = answer.get('iss') ?? '';
    expect(await sdk.auth(host, { ...asked, authorizationCode, iss })).toBe('AUTHORIZED');
    return { scope, asked: host.sentTo.searchParams };
  }

  test('gets from a 401 to a document, steps up after a 403, and continues with a refresh token', async () => {
    const host = new Host(clientId);
    const first = await authorize(host, await send('GET'));
    expect(first.scope).toBe('documents:read');
    expect([first.asked.get('prompt'), first.asked.get('resource')]).toEqual([
      prompt,
      site.pair.documents,
    ]);
    expect((await send('GET', host)).status).toBe(200);

    // RFC 6750 section 3.1: the challenge names the required scope and the token's scopes.
    const refused = await send('PUT', host);
    expect(refused.status).toBe(403);
    host.forget();
    const second = await authorize(host, refused);
    expect(second.scope).toBe('documents:write documents:read');
    expect((await send('PUT', host)).status).toBe(201);
    expect((await send('GET', host)).status).toBe(200);

    const before = host.kept?.access_token;
    expect(await sdk.auth(host, { serverUrl: site.pair.documents })).toBe('AUTHORIZED');
    expect(host.kept?.access_token).not.toBe(before);
    expect((await send('GET', host)).status).toBe(200);
  });
});
