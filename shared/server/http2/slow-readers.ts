import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { Bag, type Placed } from '#shared/base/bag.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

interface Reader extends Placed {
  readonly stream: ServerHttp2Stream;
  /** There was something to send at the last look, and no write was done since. */
  waits: boolean;
}

/**
 * Ends the streams of a connection of HTTP/2 whose client does not take what is sent to it: by a window of
 * zero (RFC 9113 section 5.2) it could hold what is being sent without end. The timeout that node:http2 has
 * for a stream is put off by any frame on the connection, a PING included. Tunnels have a time of their own.
 */
export class SlowReaders {
  readonly #session: Http2Session;
  /** Bytes that the connection has to take from look to look for each stream that waits. */
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

  /** Judges what has been taken since the last look: one each `idleTimeout`. */
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
