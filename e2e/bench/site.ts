import type { HttpRequest } from './requests.ts';
import type { Countersign } from './targets/countersign.ts';
import { mintBoundToken, mintTokens } from './tokens.ts';
import type { BoundToken } from './tokens.ts';

/** A protection space and the requested document in it. */
export interface Space {
  /** The audience of the tokens. */
  readonly url: string;
  /** The path of the document. */
  readonly path: string;
}

/** The public origin of every resource server, wherever it listens. */
export const ORIGIN = 'http://localhost:3001';
export const SCOPE = 'documents:read';
const WRITE = 'documents:write';
export const BODY =
  'A small document that every server answers with, byte for byte the same. '.repeat(2);

export const ES256: Space = { url: `${ORIGIN}/documents/`, path: '/documents/small' };

/** The configuration of our servers. */
export const SETTINGS = {
  resource: ORIGIN,
  trustedProxies: ['127.0.0.1/32'],
  spaces: [
    {
      url: ES256.url,
      alg: 'ES256',
      realm: 'ES256',
      schemes: ['Bearer', 'DPoP'],
      scopes: { safe: [SCOPE], unsafe: [WRITE] },
    },
  ],
};

/** Our servers with the documents, and a client that may read them. */
export interface Site {
  readonly servers: Countersign;
  readonly bound: BoundToken;
  /** This many different Bearer tokens for a space. */
  tokens(of: Space, count: number): Promise<readonly string[]>;
}

export async function furnish(servers: Countersign): Promise<Site> {
  const { pair, authz, resource } = servers;
  const issuer = authz.url;
  const client = await pair.addClient(`${SCOPE} ${WRITE}`);
  const { url, path } = ES256;
  const [token = ''] = await mintTokens({ issuer, client, scope: WRITE, resource: url }, 1);
  const headers = { ...bearer(token), 'Content-Type': 'text/plain' };
  const { status } = await fetch(resource.url + path, { method: 'PUT', headers, body: BODY });
  if (status !== 201) throw new Error(`PUT ${path} was answered ${status}`);
  const grant = { issuer, client, scope: SCOPE };
  return {
    servers,
    bound: await mintBoundToken({ ...grant, resource: ES256.url }),
    tokens: (of, count) => mintTokens({ ...grant, resource: of.url }, count),
  };
}

export type Fields = HttpRequest['fields'];

export const bearer = (token: string): Fields => ({ Authorization: `Bearer ${token}` });

export function get({ path }: Space, credentials: Fields): HttpRequest {
  return { method: 'GET', path, fields: credentials };
}

/** Asks for the verdict alone, as a proxy in front of another server does (forward authentication). */
export function verify({ path }: Space, credentials: Fields): HttpRequest {
  const { protocol, host } = new URL(ORIGIN);
  const forwarded = {
    'X-Forwarded-Method': 'GET',
    'X-Forwarded-Proto': protocol.slice(0, -1),
    'X-Forwarded-Host': host,
    'X-Forwarded-Uri': path,
  };
  return { method: 'GET', path: '/verify', fields: { ...credentials, ...forwarded } };
}
