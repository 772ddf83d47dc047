import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system gives to outgoing connections, one of which could take a port between
 * this choice and its use. Redis Cluster takes the port 10,000 above as well.
 */
const PORTS = { first: 12_000, end: 22_000 };
/** Jest's workers choose among ports of their own: what one was given, and has not opened yet, is no other's. */
const WORKERS = 8;
const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % WORKERS;

const given = new Set<number>();

/** A TCP port of the loopback interface that nobody listened on a moment ago; each time another. */
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
