import type { Clock } from '#shared/base/clock.ts';
import type { Acceptor } from '../parts/gss.ts';

/** A handshake that waits for the client's next message. */
export interface Handshake {
  readonly acceptor: Acceptor;
  /** The Authenticator of the first message, if that message contained a Kerberos request. */
  readonly authenticator?: Buffer;
  /** The time at which the handshake is forgotten, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly until: number;
}

/**
 * Unfinished handshakes by their connection (RFC 4559 section 6): at most one for each connection, and `capacity` in
 * all. At that limit the oldest is removed first. A WeakMap has no size, so it could not enforce the limit.
 */
export class Handshakes {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #waiting = new Map<object, Handshake>();

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  put(connection: object, handshake: Handshake): void {
    const now = this.#clock.now();
    for (const [oldest, { until }] of this.#waiting) {
      if (until > now && this.#waiting.size < this.#capacity) break;
      this.#waiting.delete(oldest);
    }
    this.#waiting.set(connection, handshake);
  }

  /** Removes and returns a handshake: of two messages at the same time, the second finds none. */
  take(connection: object): Handshake | undefined {
    const handshake = this.#waiting.get(connection);
    this.#waiting.delete(connection);
    return handshake && handshake.until > this.#clock.now() ? handshake : undefined;
  }
}
