/** Finds the ends of frames in the octets of one side of a WebSocket (RFC 6455 section 5.2). */
export class Frames {
  /** The octets of the current frame's head until it is complete, and the number of its remaining octets. */
  #head: number[] = [];
  #left = 0;

  /** Whether the last frame is complete. */
  get between(): boolean {
    return this.#left === 0 && this.#head.length === 0;
  }

  read(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      if (this.#left > 0) {
        const read = Math.min(this.#left, piece.length - at);
        this.#left -= read;
        at += read;
        continue;
      }
      this.#head.push(piece[at] ?? 0);
      at += 1;
      const length = lengthBehind(this.#head);
      if (length === undefined) continue;
      this.#head = [];
      this.#left = length;
    }
  }
}

/** Returns the length of the payload. Undefined if the head is incomplete. */
function lengthBehind(head: readonly number[]): number | undefined {
  const [, second] = head;
  if (second === undefined) return undefined;
  const short = second & 0x7f;
  const more = EXTENDED.get(short) ?? 0;
  const mask = second & 0x80 ? 4 : 0;
  if (head.length < 2 + more + mask) return undefined;
  if (more === 0) return short;
  return head.slice(2, 2 + more).reduce((length, octet) => length * 256 + octet, 0);
}

/** The number of octets of the extended length, by the value in the second octet. */
const EXTENDED: ReadonlyMap<number, number> = new Map([
  [126, 2],
  [127, 8],
]);
