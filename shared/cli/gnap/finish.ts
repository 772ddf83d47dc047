import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sameText } from '#shared/base/constant-time.ts';
import { type Interaction, interactionHash } from '#shared/gnap/interaction-hash.ts';

/** A URL on this machine to which the browser returns after the interaction (RFC 9635 section 2.5.2.1). */
export interface FinishPlace extends AsyncDisposable {
  readonly uri: string;
  /** Resolves to the interaction reference, once a browser brings one with the right hash (section 4.2.3). */
  reference(known: Omit<Interaction, 'interactRef'>): Promise<string>;
}

const DONE = 'You can close this page and go back to the command line.\n';
const WRONG = 'This is not the end of what the command line has begun.\n';

/** Listens on loopback, at a free port. A request with a wrong hash is refused, and the wait goes on. */
export async function openFinish(path: string): Promise<FinishPlace> {
  const arrived = Promise.withResolvers<string>();
  let isRight = (_hash: string, _reference: string): boolean => false;
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const [hash = '', reference = ''] = ['hash', 'interact_ref'].map(
      (name) => url?.searchParams.get(name) ?? '',
    );
    const isEnd = request.method === 'GET' && url?.pathname === path && isRight(hash, reference);
    response.writeHead(isEnd ? 200 : 400, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'close',
    });
    response.end(isEnd ? DONE : WRONG);
    if (isEnd) arrived.resolve(reference);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    uri: `http://127.0.0.1:${port}${path}`,
    reference(known) {
      isRight = (hash, interactRef) => sameText(hash, interactionHash({ ...known, interactRef }));
      return arrived.promise;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
