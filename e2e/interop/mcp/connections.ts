/** A client of each version of the SDK, as a host uses it, behind one interface. */
import * as v2 from '@modelcontextprotocol/client';
import * as auth1 from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens as Tokens1 } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Host } from './host.ts';

type Tool = Readonly<Record<string, string>>;

export interface Connection {
  connect(): Promise<void>;
  /** Resolves to the tool's text. Throws `Unauthorized` if a person has to decide. */
  call(name: string, tool?: Tool): Promise<string>;
  /** Gets tokens with the authorization answer from the browser. */
  finish(answer: URLSearchParams): Promise<void>;
  close(): Promise<void>;
  /** The revision of the protocol, once connected. */
  readonly revision: string | undefined;
}

const INFO = { name: 'host', version: '1.0.0' };

/** Returns the text of a result's only block. */
function textOf(result: object): string {
  const { content } = result as { content: [{ text: string }] };
  return content[0].text;
}

export const VERSION_1 = {
  Unauthorized: auth1.UnauthorizedError,
  /**
   * With a refresh token, version 1 refreshes instead of asking for more scopes, and so never gets them.
   */
  grants: ['authorization_code'],
  revision: '2025-11-25',
  type: 'Bearer',
  open(url: string, host: Host<Tokens1, auth1.OAuthDiscoveryState>): Connection {
    const client = new Client1(INFO);
    const transport = new Transport1(new URL(url), { authProvider: host });
    return {
      connect: () => client.connect(transport),
      call: async (name, tool = {}) => textOf(await client.callTool({ name, arguments: tool })),
      finish: (answer) => transport.finishAuth(answer.get('code') ?? ''),
      close: () => client.close(),
      get revision() {
        return transport.protocolVersion;
      },
    };
  },
};

export const VERSION_2 = {
  Unauthorized: v2.UnauthorizedError,
  grants: ['authorization_code', 'refresh_token'],
  revision: '2026-07-28',
  type: 'Bearer',
  open(url: string, host: Host<v2.StoredOAuthTokens, v2.OAuthDiscoveryState>): Connection {
    const client = new v2.Client(INFO, { versionNegotiation: { mode: 'auto' } });
    const transport = new v2.StreamableHTTPClientTransport(new URL(url), { authProvider: host });
    return {
      connect: () => client.connect(transport),
      call: async (name, tool = {}) => textOf(await client.callTool({ name, arguments: tool })),
      finish: (answer) => transport.finishAuth(answer),
      close: () => client.close(),
      get revision() {
        return client.getNegotiatedProtocolVersion();
      },
    };
  },
};

/** Version 2 with tokens that are bound to a key of the host. */
export const VERSION_2_DPOP: typeof VERSION_2 = {
  ...VERSION_2,
  type: 'DPoP',
  open(url, host) {
    const session = v2.DpopSession.create();
    host.dpop ??= () => session;
    return VERSION_2.open(url, host);
  },
};
