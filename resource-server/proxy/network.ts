import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';

/** What a proxy needs of the network. */
export interface Network {
  /** The addresses of a name. Rejects when it has none. */
  resolve(name: string): Promise<readonly string[]>;
  /** A connection to exactly this address. Rejects with the system's error, or the signal's reason. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Socket>;
}

export const systemNetwork: Network = {
  async resolve(name) {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  },
  dial(address, port, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject).once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.off('error', reject);
      resolve(socket);
    });
    if (signal.aborted) abort();
    return promise;
  },
};
