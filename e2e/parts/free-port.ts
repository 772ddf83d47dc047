import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below the system's range for outgoing connections, which could otherwise take a port between its
 * choice and its use. Redis Cluster also uses the port 10,000 above.
 */
const PORTS = { first: 12_000, end: 22_000 };
/** Each Jest worker has its own range, so that no port is chosen twice before it is opened. */
const WORKERS = 8;
const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % WORKERS;

const given = new Set<number>();

/** A free TCP port of the loopback interface, another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first / WORKERS, PORTS.end / WORKERS) * WORKERS + worker;
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
