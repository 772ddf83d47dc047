import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import type { Listening } from '../listen/listen.ts';

/** The channel on which node:net reports a new connection of a server in this process. */
const ACCEPTED = 'net.server.socket';

/** A TCP client for tests that sends exactly the given bytes. */
export class TestSocket {
  readonly socket: Socket;
  /** Resolves to all received data when the connection is closed, also by a reset. */
  readonly all: Promise<string>;
  readonly #peer: Promise<Socket>;
  #news = Promise.withResolvers<void>();
  #received = '';
  #sent = 0;
  #reset = false;

  constructor({ port }: Pick<Listening, 'port'>, localAddress = '127.0.0.1') {
    this.#peer = new Promise((resolve) => {
      const known = (message: unknown) => {
        const { socket: peer } = message as { readonly socket: Socket };
        if (peer.remotePort !== this.socket.localPort) return;
        unsubscribe(ACCEPTED, known);
        resolve(peer);
      };
      subscribe(ACCEPTED, known);
    });
    this.socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    this.all = new Promise((resolve) => {
      this.socket.on('close', () => {
        resolve(this.#received);
        this.#news.resolve();
      });
    });
    this.socket.on('error', () => {
      this.#reset = true;
    });
    this.socket.on('data', (data: Buffer) => {
      this.#received += data.toString('latin1');
      this.#news.resolve();
    });
  }

  /** Resolves when the server has read the bytes, so that the next bytes come in a read of their own. */
  async send(bytes: string | Uint8Array): Promise<void> {
    const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    this.socket.write(buffer);
    this.#sent += buffer.length;
    const peer = await this.#peer;
    while (peer.bytesRead < this.#sent && !peer.destroyed) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** True if the server reset or refused the connection. */
  get reset(): boolean {
    return this.#reset;
  }

  /** The octets that have come so far. */
  get received(): string {
    return this.#received;
  }

  /**
   * Resolves when the received text is as required, in a turn in which the server reads before it writes. Rejects if
   * the connection is closed earlier.
   */
  async until(text: string | ((received: string) => boolean)): Promise<string> {
    const holds = typeof text === 'string' ? (all: string) => all.includes(text) : text;
    while (!holds(this.#received)) {
      if (this.socket.destroyed) throw new Error(`closed after ${this.#received}`);
      this.#news = Promise.withResolvers();
      await this.#news.promise;
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.#received;
  }
}

/** Returns the server's answer to these bytes, up to the end of the connection. */
export async function exchange(listening: Listening, bytes: string | Uint8Array): Promise<string> {
  const client = new TestSocket(listening);
  client.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  return client.all;
}

/** The status codes of the answers, in order. */
export function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => Number(status));
}
