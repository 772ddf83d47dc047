import { bytesRead, owesContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Sink } from './sink.ts';

/** The source of an answer. */
interface Tap {
  pause(): unknown;
  resume(): unknown;
}

/** Octets of answers after which V8's young garbage is collected. */
const GARBAGE = 12 * 1024 * 1024;

/** Octets of answers since the last collection, in this process. */
let passed = 0;

/**
 * Counts octets, and collects young garbage from time to time.
 * Node reads each piece into a new buffer outside V8's heap. V8 collects old and young garbage for each 40 MiB of
 * these. But nearly all buffers are young garbage, whose collection takes a tenth of the time.
 */
function count(octets: number): void {
  passed += octets;
  if (passed < GARBAGE) return;
  passed = 0;
  globalThis.gc?.({ type: 'minor' });
}

/** Counts the octets of one exchange between client and destination, and knows whether the exchange waits for the client. */
export class Flow {
  /** Ends the exchange; set by the part that carries it. */
  end: (why: Error) => void = () => {};
  readonly #request: AnyRequest;
  readonly #hasContent: boolean;
  #answered = 0;
  #isBlocked = false;

  /** `hasContent`: whether the destination gets content. */
  constructor(request: AnyRequest, hasContent: boolean) {
    this.#request = request;
    this.#hasContent = hasContent;
  }

  /** Octets of content and answer so far. */
  get moved(): number {
    return bytesRead(this.#request) + this.#answered;
  }

  /**
   * Whether the client still owes content, or does not read the available answer. During a silent answer the exchange
   * waits for the application instead.
   */
  get waitsForClient(): boolean {
    return this.#isBlocked || (this.#hasContent && owesContent(this.#request));
  }

  /** Passes a piece of the answer to the client, and pauses the source while the client does not read. */
  pass(piece: Buffer, sink: Sink, tap: Tap): void {
    this.#answered += piece.length;
    count(piece.length);
    if (sink.write(piece)) return;
    this.#isBlocked = true;
    tap.pause();
    sink.drained(() => {
      this.#isBlocked = false;
      tap.resume();
    });
  }
}
