import { join } from 'node:path';
import { freePort } from '../../../parts/free-port.ts';
import { varnishCommand } from '../../../parts/varnish.ts';
import { type Server, startServer } from '../../cpu.ts';
import type { CachePeer } from './cache-peer.ts';

/** Debian's Varnish, which logs to shared memory. */
export async function startVarnish(peer: CachePeer): Promise<Server & { readonly work: string }> {
  const port = await freePort();
  const { command, args, work } = await varnishCommand(peer, port);
  const server = await startServer(command, args, {
    url: `http://127.0.0.1:${port}`,
    log: join(peer.folder, 'stderr.log'),
    signal: 'SIGTERM',
  });
  return { ...server, work };
}

/** Varnish with its log program, which writes a line per request to a file, as the other caches do. */
export async function startLoggingVarnish(peer: CachePeer): Promise<Server> {
  await using stack = new AsyncDisposableStack();
  const varnish = stack.use(await startVarnish(peer));
  const { url, work } = varnish;
  const args = ['-n', work, '-w', join(peer.folder, 'access.log')];
  const logger = await startServer('/usr/bin/varnishncsa', args, {
    url,
    log: join(peer.folder, 'ncsa.log'),
    signal: 'SIGTERM',
  });
  stack.use(logger);
  const kept = stack.move();
  return {
    ...varnish,
    pids: [...varnish.pids, ...logger.pids],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
