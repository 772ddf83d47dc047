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

/** Starts a server of a few lines, made of the libraries alone. `folder` takes its log. */
export const startBareIssuer = (options: Omit<BareIssuer, 'port'>, folder: string) =>
  startBare('bare-oidc-provider', options, folder);

export const startBareResource = (options: Omit<BareResource, 'port'>, folder: string) =>
  startBare('bare-koa', options, folder);

async function startBare(name: string, options: object, folder: string): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = new URL(`${name}.ts`, import.meta.url).pathname;
  const spec = JSON.stringify({ ...options, port });
  return startServer(process.execPath, [file, spec], { url, log: join(folder, `${name}.log`) });
}
