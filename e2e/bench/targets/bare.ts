import { join } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

export interface BareIssuer {
  readonly port: number;
  readonly client: { readonly id: string; readonly secret: string };
  readonly scope: string;
  readonly audience: string;
  readonly redirectUri: string;
  /** Of PKCE, by S256. */
  readonly challenge: string;
  /** Of SQLite; absent: it remembers everything in memory. */
  readonly file?: string;
}

export interface BareResource {
  readonly port: number;
  readonly jwks: JSONWebKeySet;
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  /** What DPoP proofs are made for. */
  readonly origin: string;
  readonly path: string;
  readonly body: string;
}

/** An API behind a library that lets in by access tokens. */
export interface Guarded {
  readonly port: number;
  readonly by: 'nobody' | 'countersign' | 'peer' | 'peer, which remembers';
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  /** By which ours follows revocations. */
  readonly client: { readonly id: string; readonly secret: string };
  readonly path: string;
  readonly body: string;
}

export interface BareText {
  readonly port: number;
  readonly body: string;
}

/** Of one password, in the PHC string format. */
export interface BareHash {
  readonly port: number;
  readonly hash: string;
  readonly password: string;
}

/** An issuer over TLS, and an origin; of octets each value is base64url. */
export interface BarePrivacyPass {
  readonly port: number;
  readonly issuerPort: number;
  /** Files in PEM. */
  readonly tls: { readonly cert: string; readonly key: string };
  readonly keys: readonly BareTokenKey[];
  /** What the origin answers with. */
  readonly body: string;
}

export interface BareTokenKey {
  readonly type: number;
  readonly publicKey: string;
  readonly privateKey: string;
  /** Of the one challenge that tokens are taken for. */
  readonly challengeDigest: string;
}

/** Starts a server of a few lines, made of the libraries alone. `folder` takes its log. */
export const startBareIssuer = (options: Omit<BareIssuer, 'port'>, folder: string) =>
  startBare('bare-oidc-provider', options, folder);

export const startBareResource = (options: Omit<BareResource, 'port'>, folder: string) =>
  startBare('bare-koa', options, folder);

export const startGuarded = (
  framework: 'express' | 'fastify',
  options: Omit<Guarded, 'port'>,
  folder: string,
) => startBare(`guarded-${framework}`, options, folder);

export const startBareText = (options: Omit<BareText, 'port'>, folder: string) =>
  startBare('bare-http', options, folder);

export const startBareArgon2 = (options: Omit<BareHash, 'port'>, folder: string) =>
  startBare('bare-argon2', options, folder);

/** What the library computes VOPRF with: sjcl, which is its default, or @noble/curves. */
export type Arithmetic = 'sjcl' | 'noble';

export async function startBarePrivacyPass(
  arithmetic: Arithmetic,
  options: Omit<BarePrivacyPass, 'port' | 'issuerPort'>,
  { folder, flags }: { readonly folder: string; readonly flags: readonly string[] },
): Promise<{ readonly issuer: Server; readonly origin: Server }> {
  const issuerPort = await freePort();
  const name = { sjcl: 'bare-privacypass', noble: 'bare-privacypass-noble' }[arithmetic];
  const origin = await startBare(name, { ...options, issuerPort }, folder, flags);
  return { origin, issuer: { ...origin, url: `https://localhost:${issuerPort}` } };
}

async function startBare(
  name: string,
  options: object,
  folder: string,
  flags: readonly string[] = [],
): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = new URL(`${name}.ts`, import.meta.url).pathname;
  const spec = JSON.stringify({ ...options, port });
  const args = [...flags, file, spec];
  return startServer(process.execPath, args, { url, log: join(folder, `${name}.log`) });
}
