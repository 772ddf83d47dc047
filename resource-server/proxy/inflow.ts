import type { OnReadOpts, Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { ReadBuffers } from '../answers/read-buffers.ts';

/** Octets of the first buffer, which is enough where there is little to say. */
const FIRST = 16 * 1024;

/**
 * What comes from a destination: into one buffer, which is filled again when its octets have been taken. Once
 * they fill the first it is a longer one.
 */
export class Inflow {
  readonly #buffers: ReadBuffers;
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST);
  #most = FIRST;
  #deliver: (piece: Uint8Array) => void = () => {};

  constructor(buffers: ReadBuffers) {
    this.#buffers = buffers;
  }

  /** For `net.connect`. The socket has to be paused until `start`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#buffer,
    callback: (length, buffer) => {
      this.#deliver(buffer.subarray(0, length));
      if (length === FIRST && buffer.length === FIRST)
        this.#buffer = this.#buffers.take(this.#most);
      return false; // until it is taken
    },
  };

  /** Hands on what comes from now on, as fast as it is taken; `most`: octets at a time. */
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
