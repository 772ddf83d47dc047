import { LOAD_CPU, stayOn } from './cpu.ts';
import {
  byPeer,
  type FileName,
  startGatewayTargets,
  withoutVerdict,
  withVerdict,
} from './gateway-targets.ts';
import type { Findings } from './report.ts';
import { compareRequests } from './suite.ts';

const CONNECTIONS = 32;

const NOTES = [
  `GET, ${CONNECTIONS} connections of wrk, of a file that nginx behind all of them sends from memory. It shares the CPU`,
  'of the load generator: the wall columns say more about these two than about the gateways, whose own CPU',
  'time is measured. All keep connections to it and write a log line for each request. The verdict is that on a',
  'Bearer token (ES256) that was seen before; the application gets a statement that is remembered.',
];

/** Passing requests on, with and without a verdict, beside nginx, HAProxy and Apache. */
export async function measureGateway(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const targets = await startGatewayTargets(stack);
  const all = (file: FileName) => [
    byPeer(targets, 'nginx', file),
    byPeer(targets, 'HAProxy', file),
    byPeer(targets, 'Apache', file),
    withoutVerdict(targets, file),
    withVerdict(targets, file),
  ];
  const comparisons = { 'Gateway: 1 KiB': all('small'), 'Gateway: 1 MiB': all('large') };
  return { ...(await compareRequests(comparisons, CONNECTIONS, say)), notes: NOTES };
}
