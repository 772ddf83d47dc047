import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { loadConfig } from '#shared/config/load.ts';
import { ENVIRONMENT, NODE_FLAGS } from '#shared/start/options.js';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Pair } from '../pair/pair.ts';
import { freePort } from '../parts/free-port.ts';
import { type Server, startServer } from './cpu.ts';
import { ORIGIN } from './push-crowd.ts';
import { type Countersign, startCountersign } from './targets/countersign.ts';
import { type ServedStore, startServedStore, type StoreName } from './targets/stores.ts';

export const DOCUMENTS = { url: `${ORIGIN}/documents/`, scope: 'documents:write' };

/** The load comes as from a proxy that terminated TLS. Such connections are limited in total only. */
const SETTINGS = {
  resource: ORIGIN,
  trustedProxies: ['127.0.0.1/32'],
  spaces: [
    {
      url: DOCUMENTS.url,
      realm: 'documents',
      schemes: ['Bearer'],
      scopes: { safe: [], unsafe: [DOCUMENTS.scope] },
    },
    {
      url: `${ORIGIN}/push/`,
      realm: 'push',
      schemes: ['Bearer'],
      scopes: { unsafe: ['push'] },
      serves: 'push',
    },
  ],
};

/** Two resource servers with a push service, and a direct connection to their store. */
export interface PushSite {
  readonly servers: Countersign;
  /** A server in clear text, as all of these are. */
  readonly one: Server;
  readonly other: Server;
  readonly stores: Stores;
  /** Absent for SQLite. */
  readonly store?: ServedStore;
}

/** Starts the site; the stack ends it. */
export async function startPushSite(
  name: StoreName,
  stack: AsyncDisposableStack,
): Promise<PushSite> {
  const store = await startServedStore(name, stack);
  const servers = stack.use(await startCountersign(SETTINGS, store && { store }));
  const { pair, resource: one } = servers;
  const other = stack.use(await startOther(pair));
  const config = await loadConfig(pair.env);
  const stores = stack.use(
    await openStores(config, {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    }),
  );
  return {
    servers,
    one,
    other: { ...other, ...(store && { store: store.pids }) },
    stores,
    ...(store && { store }),
  };
}

/** Starts another resource server on the same store, and on the servers' CPU. */
async function startOther({ data, env }: Pair): Promise<Server> {
  const config = JSON.parse(await readFile(join(data, 'config-0.json'), 'utf8')) as {
    readonly listen: Readonly<Record<string, object>>;
  };
  const entry = async (name: string) => [name, { host: '127.0.0.1', port: await freePort() }];
  const listen = Object.fromEntries(await Promise.all(Object.keys(config.listen).map(entry)));
  const file = join(data, 'config-other.json');
  await writeFile(file, JSON.stringify({ ...config, listen }));
  const main = new URL('../../resource-server/main.ts', import.meta.url).pathname;
  return startServer(process.execPath, [...NODE_FLAGS, main], {
    env: { ...ENVIRONMENT, ...env, COUNTERSIGN_CONFIG: file },
    url: `http://127.0.0.1:${listen['resource'].port}`,
    log: join(data, 'other.log'),
  });
}
