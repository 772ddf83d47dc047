import { portion } from '#shared/base/workers.ts';
import { createInShares } from '../../exchange/at-most.ts';
import { Evaluator } from './evaluator.ts';

/** Queries at a time. */
const PROCESSES = portion(2);
/** Queries that are being evaluated or wait for it, in all workers, and the part of one owner alone: four. */
const MOST = 32;
const PART = 1 / 8;

type Turn = (evaluator: Evaluator) => void;

/** What an owner has here. */
interface Line {
  running: number;
  readonly waiting: Turn[];
}

/** The processes that evaluate queries, and the lines before them: one of each owner. */
export class Evaluators {
  readonly #idle: Evaluator[];
  /** Whoever had a turn last, or came last, stands last. */
  readonly #lines = new Map<string, Line>();
  readonly #inShares = createInShares('queries', MOST);

  constructor(idle = Array.from({ length: PROCESSES }, () => new Evaluator())) {
    this.#idle = idle;
  }

  /**
   * Does the work with one of the processes, when one is free; what needs memory belongs into it. Owners
   * take turns, and nobody has two processes while somebody else waits for a first one. Rejects with
   * `HttpError` 503 when too many wait, or too many of this owner's.
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

  /** Gives an idle process to the first of the owners that wait and have the fewest. */
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
