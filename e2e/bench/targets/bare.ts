import { join } from 'node:path';
import { freePort } from '../../parts/free-port.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';
import type { SigningParty, VerifierName } from '../verifiers.ts';

export interface BareIssuer {
  readonly port: number;
  readonly client: { readonly id: string; readonly secret: string };
  readonly scope: string;
  readonly audience: string;
  readonly redirectUri: string;
  /** The S256 challenge of PKCE. */
  readonly challenge: string;
  /** The SQLite file; absent: everything stays in memory. */
  readonly file?: string;
}

/** An API behind a library that checks access tokens. */
export interface Guarded {
  readonly port: number;
  readonly by: 'nobody' | 'countersign' | 'peer' | 'peer, which remembers';
  readonly issuer: string;
  readonly audience: string;
  readonly scope: string;
  /** The client with which our guard follows revocations. */
  readonly client: { readonly id: string; readonly secret: string };
  readonly path: string;
  readonly body: string;
}

export interface BareText {
  readonly port: number;
  readonly body: string;
}

/** The hash of one password, in the PHC string format. */
export interface BareHash {
  readonly port: number;
  readonly hash: string;
  readonly password: string;
}

/** Verifies the signatures of one client. */
export interface BareVerifier {
  readonly port: number;
  readonly by: VerifierName;
  readonly party: SigningParty;
}

/** Starts a minimal server that uses the libraries only. `folder` gets its log. */
export const startBareIssuer = (options: Omit<BareIssuer, 'port'>, folder: string) =>
  startBare('bare-oidc-provider', options, folder);

export const startGuarded = (
  framework: 'express' | 'fastify',
  options: Omit<Guarded, 'port'>,
  folder: string,
) => startBare(`guarded-${framework}`, options, folder);

export const startBareText = (options: Omit<BareText, 'port'>, folder: string) =>
  startBare('bare-http', options, folder);

export const startBareArgon2 = (options: Omit<BareHash, 'port'>, folder: string) =>
  startBare('bare-argon2', options, folder);

export const startBareVerifier = (options: Omit<BareVerifier, 'port'>, folder: string) =>
  startBare('bare-verifier', options, folder);

async function startBare(name: string, options: object, folder: string): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = new URL(`${name}.ts`, import.meta.url).pathname;
  const spec = JSON.stringify({ ...options, port });
  const args = [file, spec];
  return startServer(process.execPath, args, { url, log: join(folder, `${name}.log`) });
}
