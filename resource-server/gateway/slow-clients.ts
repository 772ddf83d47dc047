import type { Bag, Placed } from '#shared/base/bag.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Holder } from '../space/account.ts';
import type { Flow } from '../forwarding/flow.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Octets per second that a client must send of content, or read of an answer, while others wait. */
const LEAST = 4096;
/** The part of the waiting time after which slow clients lose their places. */
const PART = 0.4;
/** The most lines for which an exchange is ended at each check. */
const LINES = 32;

export interface Held extends Placed {
  readonly holders: readonly Holder[];
  readonly flow: Flow;
}

export interface SlowClientsParts {
  /** Milliseconds for which a bid waits at most. */
  readonly patience: number;
  readonly taken: Pick<Bag<Held>, 'toArray'>;
  readonly lines: ReadonlyMap<string, Pick<Held, 'holders'>>;
  readonly heldBy: (holder: Holder) => number;
}

/**
 * Ends exchanges of slow clients while a line waits whose holders have fewer places. For each line it ends one exchange
 * at a time, of the holder with the most places.
 * A client is slow if it owes content or does not read the answer at two checks, and moved too few octets in between. A
 * client that waits for the application is not slow. No client is slow while no line waits.
 */
export class SlowClients {
  readonly #parts: SlowClientsParts;
  readonly #pause: number;
  #timer: NodeJS.Timeout | undefined;
  /** For each exchange that waits for its client: the number of octets moved until the last check. */
  #moved = new Map<Held, number>();

  constructor(parts: SlowClientsParts) {
    this.#parts = parts;
    this.#pause = parts.patience * PART;
  }

  /** Checks regularly from now on, until no line waits. */
  watch(): void {
    if (this.#timer) return;
    this.#mark();
    this.#timer = setInterval(() => this.#look(), this.#pause).unref();
  }

  #look(): void {
    const { lines, heldBy } = this.#parts;
    if (lines.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#moved.clear();
      return;
    }
    const slow = this.#mark();
    const has = ({ holders }: Pick<Held, 'holders'>) => Math.max(...holders.map(heldBy));
    const waiting = [...lines.values()].toSorted((a, b) => has(a) - has(b));
    for (const line of waiting.slice(0, LINES)) {
      let [most, heaviest]: [number, Held | undefined] = [0, undefined];
      for (const one of slow) {
        const more = this.#excess(one, line);
        if (more > most) [most, heaviest] = [more, one];
      }
      if (heaviest === undefined) continue;
      slow.delete(heaviest);
      heaviest.flow.end(
        new HttpError(
          408,
          'This client sends or reads too slowly while other clients wait for its place. Try again over a faster connection.',
        ),
      );
    }
  }

  /** Returns the exchanges whose clients were slow since the last check. */
  #mark(): Set<Held> {
    const before = this.#moved;
    const least = (LEAST * this.#pause) / 1000;
    const awaited = this.#parts.taken.toArray().filter(({ flow }) => flow.waitsForClient);
    this.#moved = new Map(awaited.map((one) => [one, one.flow.moved]));
    return new Set(
      awaited.filter((one) => one.flow.moved - (before.get(one) ?? -Infinity) < least),
    );
  }

  /** How many more places the holders of one exchange have than those of the other, without holders of both. */
  #excess(one: Pick<Held, 'holders'>, other: Pick<Held, 'holders'>): number {
    const has = (whose: Pick<Held, 'holders'>, but: Pick<Held, 'holders'>) => {
      const isCommon = ({ name }: Holder) => but.holders.some((holder) => holder.name === name);
      return Math.max(0, ...whose.holders.filter((h) => !isCommon(h)).map(this.#parts.heldBy));
    };
    return has(one, other) - has(other, one);
  }
}
