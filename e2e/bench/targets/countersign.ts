import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ENVIRONMENT, NODE_FLAGS } from '#shared/start/options.js';
import { startPair } from '../../pair/pair.ts';
import type { Pair, PairOptions, ServerProcess } from '../../pair/pair.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';
import type { ServedStore } from './stores.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Members of the configuration file. */
export type Settings = Readonly<Record<string, unknown>>;

/** A rate that is never reached, but is counted. */
export const NO_LIMIT = { burst: 1_000_000, per: 0.000_01 };
/** Unreachable limits. Tokens live longer than a run. */
export const UNLIMITED = {
  tokens: { lifetime: 3600 },
  limits: {
    client: NO_LIMIT,
    address: NO_LIMIT,
    signIn: NO_LIMIT,
    credentials: NO_LIMIT,
    privateTokens: NO_LIMIT,
    redemptions: NO_LIMIT,
    exchanges: NO_LIMIT,
    verifications: NO_LIMIT,
    visits: NO_LIMIT,
    allVisits: NO_LIMIT,
    account: NO_LIMIT,
  },
};

/** The pair on the servers' CPU, each server with a log file, as operators run it. */
export interface Countersign extends AsyncDisposable {
  readonly pair: Pair;
  readonly authz: Server;
  readonly resource: Server;
  /** The resource server over TLS. */
  readonly resourceTls: Server;
  /** The forward proxy of the resource server, if the settings have one. */
  readonly proxy: Server;
}

export interface CountersignOptions {
  /** Default: SQLite. */
  readonly store?: ServedStore;
  /** Processes of each server under a parent; default: a single process without a parent. */
  readonly workers?: number;
}

export async function startCountersign(
  settings: NonNullable<PairOptions['settings']> = {},
  { store, workers }: CountersignOptions = {},
): Promise<Countersign> {
  await using stack = new AsyncDisposableStack();
  const settingsOf = typeof settings === 'function' ? settings : () => settings;
  const unlimited: PairOptions['settings'] = (at) => ({
    ...UNLIMITED,
    ...store?.settings,
    ...settingsOf(at),
  });
  const pair = stack.use(await startPair({ settings: unlimited }));
  const restart = async (
    name: 'authz' | 'resource',
    server: ServerProcess | undefined,
  ): Promise<Server> => {
    if (server === undefined) throw new Error(`the pair has no ${name}`);
    await server.kill('SIGTERM');
    const log = join(pair.data, `${name}.log`);
    const signal = workers === undefined ? 'SIGKILL' : 'SIGTERM'; // a parent ends its workers
    const env = { ...ENVIRONMENT, ...pair.env };
    const options = { env, url: server.url, log, signal } as const;
    const args =
      workers === undefined
        ? [...NODE_FLAGS, join(ROOT, `${name}-server`, 'main.ts')]
        : [join(ROOT, 'shared/start/main.js'), name, '--workers', `${workers}`];
    const started = stack.use(await startServer(process.execPath, args, options));
    return { ...started, ...(workers && { workers }), ...(store && { store: store.pids }) };
  };
  const authz = await restart('authz', pair.authz[0]);
  const resource = await restart('resource', pair.resources[0]);
  const ca = await readFile(tlsOf(pair).cert);
  const kept = stack.move();
  return {
    pair,
    authz,
    resource,
    resourceTls: { ...resource, url: pair.resourceTls, ca },
    proxy: { ...resource, url: pair.proxies[0] ?? '' },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The development certificate, which the pair makes at its start. */
export function tlsOf({ data }: Pair): { readonly cert: string; readonly key: string } {
  const folder = join(data, 'tls');
  return { cert: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
}
