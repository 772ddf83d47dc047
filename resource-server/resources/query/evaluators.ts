import { HttpError } from '#shared/server/answer.ts';
import { Evaluator } from './evaluator.ts';

/** Queries at a time. */
const PROCESSES = 2;
/** Queries that are being evaluated or wait for it: of all, and of one owner. */
const MOST = 32;
const MOST_EACH = 8;

type Turn = (evaluator: Evaluator) => void;

/** The processes that evaluate queries, and the line before them. */
export class Evaluators {
  readonly #idle: Evaluator[];
  readonly #waiting: Turn[] = [];
  readonly #places = new Map<string, number>();
  #taken = 0;

  constructor(idle = Array.from({ length: PROCESSES }, () => new Evaluator())) {
    this.#idle = idle;
  }

  /**
   * Does the work with one of the processes, when one is free; what needs memory belongs into it.
   * Rejects with `HttpError` 503 when too many wait, or too many of this owner's.
   */
  async use<T>(owner: string, work: (evaluator: Evaluator) => Promise<T>): Promise<T> {
    const mine = this.#places.get(owner) ?? 0;
    if (this.#taken >= MOST || mine >= MOST_EACH) {
      throw new HttpError(503, 'Too many queries are waiting. Try again.', { 'Retry-After': '1' });
    }
    this.#take(owner, 1);
    const evaluator = this.#idle.pop() ?? (await this.#turn());
    try {
      return await work(evaluator);
    } finally {
      this.#take(owner, -1);
      const next = this.#waiting.shift();
      if (next) next(evaluator);
      else this.#idle.push(evaluator);
    }
  }

  #turn(): Promise<Evaluator> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #take(owner: string, places: 1 | -1): void {
    this.#taken += places;
    const mine = (this.#places.get(owner) ?? 0) + places;
    if (mine === 0) this.#places.delete(owner);
    else this.#places.set(owner, mine);
  }
}
