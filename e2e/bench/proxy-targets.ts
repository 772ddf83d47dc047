import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { type Destination, startDestination } from './destination.ts';
import { basic } from './gate.ts';
import { startCountersign } from './targets/countersign.ts';
import { type OnEachStore, ofEachStore, onEachStore } from './targets/stores.ts';
import { startSquid } from './targets/squid.ts';
import type { TunnelContender } from './tunnel-load.ts';

export interface ProxyTargets {
  readonly destination: Destination;
  readonly squid: TunnelContender;
  readonly stores: OnEachStore<TunnelContender>;
}

/** Starts all proxies with a person whom all know; the stack ends them. */
export async function startProxyTargets(stack: AsyncDisposableStack): Promise<ProxyTargets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const destination = stack.use(await startDestination());
  const destinations = [destination.greeting, destination.source];
  const settings = { proxy: { realm: 'proxy', schemes: ['Basic'], destinations } };
  const stores = await onEachStore(stack, async (on) =>
    stack.use(await startCountersign(settings, on)),
  );
  const people = await ofEachStore(stores, ({ pair }) => pair.addPerson());
  const { name: username, password } = people.SQLite;
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
    stores: await ofEachStore(stores, ({ proxy }) => contender('ours', proxy)),
  };
}
