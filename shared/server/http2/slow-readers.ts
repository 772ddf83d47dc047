import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { Bag, type Placed } from '#shared/base/bag.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

interface Reader extends Placed {
  readonly stream: ServerHttp2Stream;
  /** True if data was waiting at the last check, and no write has ended since. */
  waits: boolean;
}

/**
 * Ends the streams of an HTTP/2 connection whose client does not read its answers: with a window of zero (RFC 9113
 * section 5.2) the client could keep the data in our memory for ever. The timeout of node:http2 does not help, since
 * any frame on the connection, such as PING, restarts it. Tunnels have their own time limit.
 */
export class SlowReaders {
  readonly #session: Http2Session;
  /** Octets that the client must read between two checks for each waiting stream. */
  readonly #least: number;
  readonly #readers = new Bag<Reader>();
  #sent = 0;

  constructor(session: Http2Session, { idleTimeout, pace }: ServerLimits) {
    this.#session = session;
    this.#least = (pace.bytes * idleTimeout) / pace.milliseconds;
    session.on('stream', (stream: ServerHttp2Stream, { ':method': method }) => {
      if (method === 'CONNECT') return;
      const reader: Reader = { place: -1, stream, waits: false };
      this.#readers.add(reader);
      stream.on('drain', () => (reader.waits = false));
      stream.once('close', () => this.#readers.delete(reader));
    });
  }

  /** Checks how much the client has read since the last check; called once in each `idleTimeout`. */
  look(): void {
    if (this.#session.destroyed) return;
    const sent = this.#session.socket.bytesWritten;
    const readers = this.#readers.toArray();
    const slow = readers.filter(({ stream, waits }) => waits && stream.writableLength > 0);
    if (sent - this.#sent < this.#least * slow.length) {
      for (const { stream } of slow) stream.close(constants.NGHTTP2_CANCEL);
    }
    this.#sent = sent;
    for (const reader of readers) reader.waits = reader.stream.writableLength > 0;
  }
}
