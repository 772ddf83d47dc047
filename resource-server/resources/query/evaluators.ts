import { portion } from '#shared/base/workers.ts';
import { createInShares } from '../../exchange/at-most.ts';
import { Evaluator } from './evaluator.ts';

/** How many queries are evaluated concurrently. */
const PROCESSES = portion(2);
/** The most queries of all workers that wait or are being evaluated. One owner has an eighth: four. */
const MOST = 32;
const PART = 1 / 8;

type Turn = (evaluator: Evaluator) => void;

/** The running and waiting queries of one owner. */
interface Line {
  running: number;
  readonly waiting: Turn[];
}

/** The processes that evaluate queries, and one queue for each owner. */
export class Evaluators {
  readonly #idle: Evaluator[];
  /** The queues. The owner who had a turn or arrived most recently is last. */
  readonly #lines = new Map<string, Line>();
  readonly #inShares = createInShares('queries', MOST);

  constructor(idle = Array.from({ length: PROCESSES }, () => new Evaluator())) {
    this.#idle = idle;
  }

  /**
   * Runs the work with a process as soon as one is free. Work that needs memory should happen inside.
   * Owners take turns, and an owner gets a second process only if no other owner waits for a first. Rejects with
   * `HttpError` 503 if too many queries wait, of all owners or of this one.
   */
  use<T>(owner: string, work: (evaluator: Evaluator) => Promise<T>): Promise<T> {
    return this.#inShares([{ name: owner, part: PART }], () => this.#inLine(owner, work));
  }

  async #inLine<T>(owner: string, work: (evaluator: Evaluator) => Promise<T>): Promise<T> {
    const line = this.#lines.get(owner) ?? { running: 0, waiting: [] };
    this.#lines.set(owner, line);
    const evaluator = await new Promise<Evaluator>((resolve) => {
      line.waiting.push(resolve);
      this.#next();
    });
    try {
      return await work(evaluator);
    } finally {
      line.running -= 1;
      if (line.running + line.waiting.length === 0) this.#lines.delete(owner);
      this.#idle.push(evaluator);
      this.#next();
    }
  }

  /** Gives an idle process to the waiting owner with the fewest running queries, the first of several. */
  #next(): void {
    const waiting = [...this.#lines].filter(([, line]) => line.waiting.length > 0);
    const [first] = waiting.toSorted(([, a], [, b]) => a.running - b.running);
    const evaluator = first && this.#idle.pop();
    if (first === undefined || evaluator === undefined) return;
    const [owner, line] = first;
    this.#lines.delete(owner);
    this.#lines.set(owner, line);
    line.running += 1;
    line.waiting.shift()?.(evaluator);
  }
}
