import { LOAD_CPU, stayOn } from './cpu.ts';
import { startGatewaySockets } from './gateway-sockets.ts';
import {
  byPeer,
  type FileName,
  startGatewayTargets,
  withoutVerdict,
  withVerdict,
} from './gateway-targets.ts';
import type { Findings } from './report.ts';
import { overSockets } from './socket-load.ts';
import { compareAll, compareRequests } from './suite.ts';

const CONNECTIONS = 32;
const SOCKETS = 32;

const NOTES = [
  `GET, ${CONNECTIONS} connections of wrk, of a file that nginx behind all of them sends from memory. It shares the CPU`,
  'of the load generator: the wall columns say more about these two than about the gateways, whose own CPU',
  'time is measured. All keep connections to it and write a log line for each request. The verdict is that on a',
  'Bearer token (ES256) that was seen before; the application gets a statement that is remembered.',
  `WebSockets: messages of 64 octets on ${SOCKETS} of them, each sent when the one before it has come back. Client and`,
  'application are one process of Node on the CPU of the load generator, and slower than the gateways: a gateway',
  'that is less busy has fewer messages for each time it wakes up, and spends more on each.',
];

/** Passing on requests and messages, with and without a verdict, beside nginx, HAProxy and Apache. */
export async function measureGateway(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  const found = [await measureFiles(say), await measureSockets(say)];
  return {
    tables: found.flatMap(({ tables }) => tables),
    errors: found.reduce((sum, { errors }) => sum + errors, 0),
    notes: NOTES,
  };
}

async function measureFiles(say: (line: string) => void) {
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
  return await compareRequests(comparisons, CONNECTIONS, say);
}

async function measureSockets(say: (line: string) => void) {
  await using stack = new AsyncDisposableStack();
  const contenders = (await startGatewaySockets(stack)).map((one) => overSockets(one, SOCKETS));
  return await compareAll([{ title: 'Gateway: WebSocket echo', unit: 'message', contenders }], say);
}
