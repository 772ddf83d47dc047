import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '#shared/base/clock.ts';
import { sectionSize } from '../client-errors/header-section.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';

/** Octets that a request may unpack for free: a table of 4096 octets (RFC 7541 section 4.2), and another 4096. */
const ORDINARY = 8192;

/**
 * Ends an HTTP/2 connection with ENHANCE_YOUR_CALM (RFC 9113 section 10.5) in these cases: its client too often
 * resets streams, makes the server reset them, or sends PING or SETTINGS; or its header sections unpack from a few
 * octets to many. nghttp2 itself limits frames without effect: malformed fields, empty DATA, CONTINUATION, PRIORITY.
 */
export function endFloods(session: Http2Session, limit: ServerLimits, clock: Clock): void {
  const resets = new Bucket(limit.resets, clock);
  const controls = new Bucket(limit.controls, clock);
  const reason = new Error('resets, pings, settings or header sections without measure');
  const calm = () => session.destroy(reason, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const control = () => {
    if (!controls.take()) calm();
  };
  let unpacked = 0;
  /** Refused sections use up the limit, too, since unpacking them was the work (RFC 7541 section 7.3). */
  const unpack = (section: readonly string[]) => {
    unpacked += Math.max(0, sectionSize(section) - ORDINARY);
    if (session.destroyed) return;
    if (unpacked > limit.unpackedBytes + 2 * session.socket.bytesRead) calm();
  };
  session.on('ping', control).on('remoteSettings', control);
  session.on('stream', (stream: ServerHttp2Stream, _fields, _flags, section) => {
    unpack(section);
    stream.on('trailers', (_trailers: object, _ends: number, trailers: string[]) =>
      unpack(trailers),
    );
    stream.once('close', () => {
      const reset = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
      if (reset && !resets.take()) calm();
    });
  });
}

/** A token bucket in memory, for one connection. */
export class Bucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filled: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filled = clock.now();
  }

  /** Uses up one token; returns false if the bucket is empty. A clock that is set back does not fill the bucket. */
  take(): boolean {
    const { burst, per } = this.#rate;
    const now = this.#clock.now();
    const grown = Math.max(0, now - this.#filled) / (per * 1000);
    this.#tokens = Math.min(burst, this.#tokens + grown);
    this.#filled = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
