import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The server that forged headers name. The servers under test must never fetch from it. */
export interface Elsewhere extends Disposable {
  /** The URL of its key set. */
  readonly url: string;
  /** The number of requests so far. */
  readonly fetched: number;
}

/** `key` returns the single key of the set, once per request. */
export async function startElsewhere(key: () => object): Promise<Elsewhere> {
  let fetched = 0;
  const server = createServer((_request, response) => {
    fetched += 1;
    response.end(JSON.stringify({ keys: [key()] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/jwks`,
    get fetched() {
      return fetched;
    },
    [Symbol.dispose]: () => void server.close(),
  };
}
