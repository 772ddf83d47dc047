import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { acceptOf } from '#shared/http/web-socket.ts';
import { type LoopMonitor, loopMonitor } from '../../bench/loop-delay.ts';
import { type Pair, ServerProcess, startPair } from '../../pair/pair.ts';

/** Octets of an answer that is too long for the cache. */
const LONG = 12 * 1024 * 1024;
/** The size of the cache in octets. One answer may use a quarter of it. */
const KEPT = 4 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

/** A resource server in front of an application, with a monitor of the server's event loop. */
export interface Site extends AsyncDisposable {
  readonly port: number;
  readonly monitor: LoopMonitor;
  readonly pids: readonly number[];
}

/**
 * Starts the site. Spaces: `/private/` needs sign-in, `/open/` is public, and `/cached/` is public with a
 * cache.
 */
export async function startSite(): Promise<Site> {
  await using stack = new AsyncDisposableStack();
  const application = http.createServer(answer).on('upgrade', (request, socket) => {
    const accept = acceptOf(String(request.headers['sec-websocket-key']));
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${accept}`];
    socket
      .on('error', () => {})
      .on('end', () => socket.end())
      .resume();
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  });
  await once(application.listen(0, '127.0.0.1'), 'listening');
  stack.defer(() => {
    application.closeAllConnections();
    application.close();
  });
  const upstream = { url: `http://127.0.0.1:${(application.address() as AddressInfo).port}/` };
  const settings = ({ resource }: Pick<Pair, 'resource'>) => {
    const space = (name: string, more: object) => ({
      url: `${resource}/${name}/`,
      realm: name,
      serves: 'upstream',
      upstream,
      ...more,
    });
    const spaces = [
      space('private', { schemes: ['Bearer'], signIn: true }),
      space('open', { schemes: [] }),
      space('cached', { schemes: [], cache: { maxBytes: KEPT } }),
    ];
    return { spaces };
  };
  const pair = stack.use(await startPair({ settings }));
  const monitor = loopMonitor(join(pair.data, 'delay.json'));
  const port = Number(new URL(pair.resource).port);
  await pair.resources[0]?.kill();
  const server = new ServerProcess(['resource-server/main.ts'], port, {
    ...pair.env,
    NODE_OPTIONS: monitor.flags.join('='),
  });
  stack.defer(() => server.kill());
  await server.start();
  const owned = stack.move();
  return {
    port,
    monitor,
    pids: [server.pid ?? 0],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Sends a short answer once the request is complete, or below /long a long answer without Content-Length.
 */
function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  if (!request.url?.startsWith('/long')) {
    request.resume().once('end', () => response.end('answer'));
    return;
  }
  response.setHeader('Cache-Control', 'max-age=60');
  let left = LONG;
  const write = () => {
    while (left > 0) {
      left -= PIECE.length;
      if (!response.write(PIECE)) return response.once('drain', write);
    }
    return response.end();
  };
  write();
}
