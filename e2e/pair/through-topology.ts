import type { Send } from '../clients/digest/exchange.ts';
import { until } from '../parts/process.ts';
import type { Topology } from './topology.ts';

/** Sends to an origin through the load balancer, for the clients that were written from the RFCs. */
export function sendThrough(topology: Topology, origin: string): Send {
  return async ({ method, target, fields, content }) => {
    const body = content.length > 0 ? { body: content } : {};
    const asked = { method, headers: Object.fromEntries(fields), ...body };
    const answer = await topology.ask(origin + target, asked);
    const lines = Object.entries(answer.headers).flatMap(([name, value = []]) =>
      [value].flat().map((line): [string, string] => [name, line]),
    );
    return { status: answer.status, fields: lines, content: answer.content, trailers: [] };
  };
}

/** The servers that answered for this path, in order, by the load balancer's log: `count` at least. */
export async function serversOf(
  topology: Topology,
  path: string,
  count: number,
): Promise<readonly string[]> {
  const lines = () =>
    topology
      .balancerLog()
      .split('\n')
      .filter((line) => line.includes(` ${path} `));
  await until(() => lines().length >= count);
  return lines().map((line) => /\/(\S+) /.exec(line)?.[1] ?? '');
}
