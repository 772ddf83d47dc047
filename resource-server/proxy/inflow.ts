import type { OnReadOpts, Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { FIRST, type ReadBuffers } from '../answers/read-buffers.ts';

/**
 * The data from a destination. It is read into one buffer, which is reused when its bytes have been passed on. Once the
 * data fills the first buffer, a longer one replaces it.
 */
export class Inflow {
  readonly #buffers: ReadBuffers;
  #buffer: Buffer;
  #most = FIRST;
  #deliver: (piece: Uint8Array) => void = () => {};

  constructor(buffers: ReadBuffers) {
    this.#buffers = buffers;
    this.#buffer = buffers.take(FIRST);
  }

  /** The option `onread` of `net.connect`. The socket must be paused until `start`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#buffer,
    callback: (length, buffer) => {
      this.#deliver(buffer.subarray(0, length));
      if (length === FIRST && buffer.length === FIRST)
        this.#buffer = this.#buffers.take(this.#most);
      return false; // pauses the socket until the data is passed on
    },
  };

  /** Forwards the data from now on, as fast as the receiver reads it. `most`: bytes at a time. */
  start(from: Socket, to: Writable, most: number): void {
    this.#most = most;
    this.#deliver = (piece) => {
      to.write(piece, (error) => {
        if (!error) from.resume();
      });
    };
    from.once('close', () =>
      this.#buffers.give(this.#buffer, from.readableEnded && to.writableFinished),
    );
    from.once('end', () => to.end());
    from.resume();
  }
}
