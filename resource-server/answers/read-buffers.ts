/** Octets of a large buffer. While MOST_LARGE of them are in use, further buffers have SMALL octets. */
const LARGE = 256 * 1024;
const MOST_LARGE = 32;
const SMALL = 64 * 1024;
/**
 * Octets of a tunnel's first buffer, which suffices for little traffic, and the number of such buffers that are kept.
 */
export const FIRST = 16 * 1024;
const MOST_FIRST = 64;

/**
 * Buffers that are reused for all answers or all tunnels of a process. A slow client holds its buffers. However many
 * clients do so, the large buffers take at most 8 MiB together.
 */
export class ReadBuffers {
  /** Large buffers that are not in use. */
  readonly #free: Buffer[] = [];
  readonly #first: Buffer[] = [];
  #large = 0;

  /** The number of large buffers in use. */
  get large(): number {
    return this.#large;
  }

  /** Returns a buffer for `octets` octets, or a smaller one that needs several fillings. */
  take(octets: number): Buffer {
    if (octets === FIRST) return this.#first.pop() ?? Buffer.allocUnsafeSlow(FIRST);
    if (octets <= SMALL || this.#large === MOST_LARGE) {
      return Buffer.allocUnsafeSlow(Math.min(octets, SMALL));
    }
    this.#large += 1;
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(LARGE);
  }

  /** Returns a buffer. `again`: whether all its data has been sent, so that it may be reused. */
  give(buffer: Buffer, again: boolean): void {
    if (buffer.length === FIRST && again && this.#first.length < MOST_FIRST) {
      this.#first.push(buffer);
    }
    if (buffer.length !== LARGE) return;
    this.#large -= 1;
    if (again) this.#free.push(buffer);
  }
}
