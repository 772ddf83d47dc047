import { LOAD_CPU, stayOn } from './cpu.ts';
import { startProxyTargets } from './proxy-targets.ts';
import type { Findings } from './report.ts';
import { compareAll } from './suite.ts';
import { tunnelSetUp, tunnelThroughput } from './tunnel-load.ts';

const SET_UP_AT_ONCE = 16;
const THROUGHPUT_AT_ONCE = 4;

const NOTES = [
  `Basic, the same credentials again and again, which both remember. Set-up: ${SET_UP_AT_ONCE} clients open a tunnel to`,
  `a server that says one byte and ends, read it and close. Throughput: ${THROUGHPUT_AT_ONCE} tunnels, from the destination to`,
  'the client. Clients and destinations share the CPU of the load generator, in Node: where that is the',
  'slower one, the wall columns say more about it than about the proxy. Both write a log line for each tunnel.',
];

/** CONNECT: tunnels a second and MiB a second, beside squid. */
export async function measureProxy(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const { destination, ...targets } = await startProxyTargets(stack);
  const contenders = [targets.squid, targets.sqlite, targets.redis];
  const comparisons = [
    {
      title: 'Proxy: CONNECT, set-up of tunnels',
      unit: 'tunnel',
      contenders: contenders.map((one) => tunnelSetUp(one, destination, SET_UP_AT_ONCE)),
    },
    {
      title: 'Proxy: CONNECT, throughput of tunnels',
      unit: 'MiB',
      contenders: contenders.map((one) => tunnelThroughput(one, destination, THROUGHPUT_AT_ONCE)),
    },
  ];
  return { ...(await compareAll(comparisons, say)), notes: NOTES };
}
