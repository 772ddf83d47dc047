import type { Bag, Placed } from '#shared/base/bag.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Holder } from '../space/account.ts';
import type { Flow } from '../forwarding/flow.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Octets a second that a client has to send of content, or take of an answer, while others wait. */
const LEAST = 4096;
/** The part of the patience of those who wait after which they see a client end that is too slow. */
const PART = 0.4;
/** Lines for each of which one exchange ends at a look. */
const LINES = 32;

export interface Held extends Placed {
  readonly holders: readonly Holder[];
  readonly flow: Flow;
}

export interface SlowClientsParts {
  /** Milliseconds that somebody waits at most. */
  readonly patience: number;
  readonly taken: Pick<Bag<Held>, 'toArray'>;
  readonly lines: ReadonlyMap<string, Pick<Held, 'holders'>>;
  readonly heldBy: (holder: Holder) => number;
}

/**
 * Ends exchanges of slow clients while somebody waits who has less than they: for each line one at a time, of the client that has
 * most. Slow is a client that owes content, or does not take the answer, at two looks, and moved too little between
 * them. A client that waits for the application is not slow, nor is anybody while nobody waits.
 */
export class SlowClients {
  readonly #parts: SlowClientsParts;
  readonly #pause: number;
  #timer: NodeJS.Timeout | undefined;
  /** The octets that each exchange which waited for its client had moved at the last look. */
  #moved = new Map<Held, number>();

  constructor(parts: SlowClientsParts) {
    this.#parts = parts;
    this.#pause = parts.patience * PART;
  }

  /** From now on until nobody waits. */
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

  /** Returns the exchanges whose clients were slow since the last look. */
  #mark(): Set<Held> {
    const before = this.#moved;
    const least = (LEAST * this.#pause) / 1000;
    const awaited = this.#parts.taken.toArray().filter(({ flow }) => flow.waitsForClient);
    this.#moved = new Map(awaited.map((one) => [one, one.flow.moved]));
    return new Set(
      awaited.filter((one) => one.flow.moved - (before.get(one) ?? -Infinity) < least),
    );
  }

  /** How many more its holders have than those of the other, but for holders of both. */
  #excess(one: Pick<Held, 'holders'>, other: Pick<Held, 'holders'>): number {
    const has = (whose: Pick<Held, 'holders'>, but: Pick<Held, 'holders'>) => {
      const isCommon = ({ name }: Holder) => but.holders.some((holder) => holder.name === name);
      return Math.max(0, ...whose.holders.filter((h) => !isCommon(h)).map(this.#parts.heldBy));
    };
    return has(one, other) - has(other, one);
  }
}
