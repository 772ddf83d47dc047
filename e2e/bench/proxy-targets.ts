import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { type Destination, startDestination } from './destination.ts';
import { basic } from './gate.ts';
import { startCountersign } from './targets/countersign.ts';
import { startRedisStore } from './targets/redis.ts';
import { startSquid } from './targets/squid.ts';
import type { TunnelContender } from './tunnel-load.ts';

export interface ProxyTargets {
  readonly destination: Destination;
  readonly squid: TunnelContender;
  readonly sqlite: TunnelContender;
  readonly redis: TunnelContender;
}

/** Starts them with a person whom all know; the stack ends them. */
export async function startProxyTargets(stack: AsyncDisposableStack): Promise<ProxyTargets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const destination = stack.use(await startDestination());
  const destinations = [destination.greeting, destination.source];
  const settings = { proxy: { realm: 'proxy', schemes: ['Basic'], destinations } };
  const store = await startRedisStore(stack);
  const sqlite = stack.use(await startCountersign(settings));
  const redis = stack.use(await startCountersign(settings, { store }));
  const { name: username, password } = await sqlite.pair.addPerson();
  await redis.pair.addPerson(username, password);
  const squid = stack.use(await startSquid({ username, password, folder }));

  const credentials = (secret: string) => basic(username, secret)['Authorization'] ?? '';
  const contender = (name: string, server: Server): TunnelContender => ({
    name,
    server,
    right: credentials(password),
    wrong: credentials(`${password}!`),
  });
  return {
    destination,
    squid: contender('squid', squid),
    sqlite: contender('ours, SQLite', sqlite.proxy),
    redis: contender('ours, Redis', redis.proxy),
  };
}
