import type { Dice } from '../attacks/dice.ts';
import type { Machine, SimulatedTime } from './simulated-time.ts';

/** Milliseconds from the region of the authorization servers and of the store to each region, one way. */
export const LATENCIES = [1, 80, 150] as const;

/** Milliseconds after which TCP sends again what was lost, at the least (RFC 6298 section 2.4 allows less than its second). */
const AGAIN = 200;
/** A way takes up to this part longer than its latency. */
const JITTER = 0.2;

/** One end of a way from the first region. */
export interface Place {
  readonly region: number;
  readonly machine: Machine;
}

/** Ways between the first region and all places: slow, lossy, and cut now and then. */
export class Network {
  readonly #time: SimulatedTime;
  readonly #roll: Dice;
  readonly #loss: number;
  /** Until when, in milliseconds since the beginning, nothing gets through. */
  readonly #cut = new Map<Place | number, number>();

  /** `loss`: the part of messages that is lost and sent again. */
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

  /** Carries a message between the first region and a place, in either direction; one that is cut off is gone. */
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
