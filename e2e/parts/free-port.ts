import { once } from 'node:events';
import { createServer } from 'node:net';

const given = new Set<number>();

/** A TCP port of the loopback interface that nobody listened on a moment ago; each time another. */
export async function freePort(): Promise<number> {
  let port = await unusedPort();
  while (given.has(port)) port = await unusedPort();
  given.add(port);
  return port;
}

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port was given');
  return address.port;
}
