import { join } from 'node:path';
import { startPair } from '../../pair/pair.ts';
import type { Pair, PairOptions, ServerProcess } from '../../pair/pair.ts';
import { startServer } from '../cpu.ts';
import type { Server } from '../cpu.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Members of the configuration file. */
export type Settings = Readonly<Record<string, unknown>>;

/** A rate that nobody reaches, yet it is counted. */
export const NO_LIMIT = { burst: 1_000_000, per: 0.000_01 };
/** No limit is reached. Tokens outlive a run. */
export const UNLIMITED = {
  tokens: { lifetime: 3600 },
  limits: {
    client: NO_LIMIT,
    address: NO_LIMIT,
    signIn: NO_LIMIT,
    credentials: NO_LIMIT,
    privateTokens: NO_LIMIT,
    redemptions: NO_LIMIT,
    verifications: NO_LIMIT,
  },
};

/** The pair on the servers' CPU, each with its log in a file, as an operator has it. */
export interface Countersign extends AsyncDisposable {
  readonly pair: Pair;
  readonly authz: Server;
  readonly resource: Server;
  /** The forward proxy of the resource server, if the settings have one. */
  readonly proxy: Server;
}

/** `authzFlags`: Node's, for the authorization server. */
export async function startCountersign(
  settings: NonNullable<PairOptions['settings']> = {},
  authzFlags: readonly string[] = [],
): Promise<Countersign> {
  await using stack = new AsyncDisposableStack();
  const settingsOf = typeof settings === 'function' ? settings : () => settings;
  const unlimited: PairOptions['settings'] = (at) => ({ ...UNLIMITED, ...settingsOf(at) });
  const pair = stack.use(await startPair({ settings: unlimited }));
  const restart = async (
    name: string,
    server: ServerProcess | undefined,
    flags: readonly string[] = [],
  ): Promise<Server> => {
    if (server === undefined) throw new Error(`the pair has no ${name}`);
    await server.kill('SIGTERM');
    const log = join(pair.data, `${name}.log`);
    const options = { env: pair.env, url: server.url, log };
    const args = [...flags, join(ROOT, name, 'main.ts')];
    return stack.use(await startServer(process.execPath, args, options));
  };
  const authz = await restart('authz-server', pair.authz[0], authzFlags);
  const resource = await restart('resource-server', pair.resources[0]);
  const proxy = { ...resource, url: pair.proxies[0] ?? '' };
  const kept = stack.move();
  return { pair, authz, resource, proxy, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
