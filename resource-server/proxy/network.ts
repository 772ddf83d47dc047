import { connect, type Socket } from 'node:net';
import { type Resolve, systemResolve } from '#shared/client/destinations/resolve.ts';
import type { Inflow } from './inflow.ts';

/** The network functions that a proxy needs. */
export interface Network {
  readonly resolve: Resolve;
  /**
   * Connects to exactly this address; `inflow` receives the data. Rejects with the system's error, or the signal's
   * reason.
   */
  dial(address: string, port: number, signal: AbortSignal, inflow?: Inflow): Promise<Socket>;
}

export const systemNetwork: Network = {
  resolve: systemResolve,
  dial(address, port, signal, inflow) {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const onread = inflow && { onread: inflow.onread };
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, ...onread });
    if (inflow) socket.pause();
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
