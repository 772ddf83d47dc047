import { bytesRead, owesContent } from '#shared/server/content/content.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Sink } from './sink.ts';

/** Where an answer comes from. */
interface Tap {
  pause(): unknown;
  resume(): unknown;
}

/** Octets of answers after which the young garbage is collected. */
const GARBAGE = 12 * 1024 * 1024;

/** Octets of answers since then, in this process. */
let passed = 0;

/**
 * Node reads each piece into a buffer of its own, outside V8's heap. V8 collects all garbage, old and
 * young, for each 40 MiB of them; but nearly all of them are young garbage, which goes in a tenth of the time.
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

  /** `hasContent`: which goes to the destination. */
  constructor(request: AnyRequest, hasContent: boolean) {
    this.#request = request;
    this.#hasContent = hasContent;
  }

  /** Octets of content and answer so far. */
  get moved(): number {
    return bytesRead(this.#request) + this.#answered;
  }

  /** The client owes content, or does not take what there is of the answer. An answer that is silent waits for nobody. */
  get waitsForClient(): boolean {
    return this.#isBlocked || (this.#hasContent && owesContent(this.#request));
  }

  /** Gives the client a piece of the answer, of which no more comes while the client does not take it. */
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
