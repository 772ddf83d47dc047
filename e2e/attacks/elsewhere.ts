import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that forged headers point to, and that nobody should ever ask. */
export interface Elsewhere extends Disposable {
  /** Answers every request with a key set. */
  readonly url: string;
  /** How often it was asked. */
  readonly fetched: number;
}

/** `key` gives the one key of the set when it is asked for. */
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
