import type { Dice } from '../attacks/dice.ts';
import type { Machine, SimulatedTime } from './simulated-time.ts';

/** One-way latencies in milliseconds, from the region of authorization servers and store to each region. */
export const LATENCIES = [1, 80, 150] as const;

/**
 * Milliseconds after which TCP retransmits, at least (RFC 6298 section 2.4 allows less than its second).
 */
const AGAIN = 200;
/** A message takes up to this part longer than the latency. */
const JITTER = 0.2;

/** The far end of a connection from the first region. */
export interface Place {
  readonly region: number;
  readonly machine: Machine;
}

/** The network between the first region and all places: slow, lossy, and sometimes cut. */
export class Network {
  readonly #time: SimulatedTime;
  readonly #roll: Dice;
  readonly #loss: number;
  /** The end of each cut, in milliseconds since the beginning. */
  readonly #cut = new Map<Place | number, number>();

  /** `loss`: the part of messages that are lost and retransmitted. */
  constructor(time: SimulatedTime, roll: Dice, loss: number) {
    this.#time = time;
    this.#roll = roll;
    this.#loss = loss;
  }

  /** Cuts a place or a region off. */
  cut(where: Place | number, milliseconds: number): void {
    this.#cut.set(where, this.#time.now + milliseconds);
  }

  isCut(place: Place): boolean {
    const until = (where: Place | number) => this.#cut.get(where) ?? 0;
    return Math.max(until(place), until(place.region)) > this.#time.now;
  }

  /**
   * Carries a message between the first region and a place, in either direction. A cut place loses the
   * message.
   */
  carry(place: Place, to: Machine, arrive: () => void): void {
    if (this.isCut(place)) return;
    const latency = LATENCIES[place.region] ?? 0;
    let takes = latency * (1 + this.#chance() * JITTER);
    let again = Math.max(AGAIN, 2 * latency);
    while (this.#chance() < this.#loss) {
      takes += again;
      again *= 2;
    }
    to.plan(takes, () => {
      if (!this.isCut(place)) arrive();
    });
  }

  #chance(): number {
    return this.#roll(1_000_000) / 1_000_000;
  }
}
