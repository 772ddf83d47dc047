import { type ProxyTargets, startProxyTargets } from '../proxy-targets.ts';
import { ofEachStore } from '../targets/stores.ts';
import { type TunnelContender, tunnelSetUp, tunnelThroughput } from '../tunnel-load.ts';
import { type Loads, room, times } from '../work.ts';

async function tunnels(
  { destination, squid, stores }: ProxyTargets,
  load: typeof tunnelSetUp,
): Promise<Loads> {
  const of = (contender: TunnelContender) => (atOnce: number) =>
    load(contender, destination, atOnce);
  return { beside: [of(squid)], ways: await ofEachStore(stores, of) };
}

/** The forward proxy. */
export const PROXY = room(startProxyTargets, [
  {
    name: 'CONNECT, set-up of a tunnel',
    goals: { squid: times(1.3) },
    atOnce: 16,
    loads: (all) => tunnels(all, tunnelSetUp),
  },
  {
    name: 'CONNECT, a MiB through a tunnel',
    goals: { squid: times(1.1) },
    atOnce: 4,
    loads: (all) => tunnels(all, tunnelThroughput),
  },
]);
