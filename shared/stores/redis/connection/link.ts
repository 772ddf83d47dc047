import type { Log } from '#shared/base/log.ts';
import { within } from '#shared/base/within.ts';
import { Outage } from '#shared/stores/outage/outage.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { boundedWaiting } from '../../outage/waiting.ts';
import { plain } from './plain.ts';
import type { Wire } from './topology.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Milliseconds between an error and the next attempt to connect. Commands fail at once meanwhile. */
const PAUSE = 100;

/** Errors that Redis gives only before the first write of a command or script. */
const REFUSED = /^(?:MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN) /;

/** Whether a Cluster refuses keys because their slot is moving. The connection itself still works. */
export const isAmidMove = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('TRYAGAIN ');

interface Attempt {
  readonly life: AbortController;
  readonly opening: Promise<Wire>;
  wire?: Wire;
  failed?: true;
}

/**
 * A connection that is opened when needed, and replaced after an error, perhaps by one to another master. No command
 * waits longer than `deadline` milliseconds, and at most `MOST_WAITING` wait. Every error is `StoreUnavailable`.
 */
export class Link implements Disposable {
  readonly #open: (life: AbortSignal) => Promise<Wire>;
  readonly #outage: Outage;
  readonly #deadline: number;
  readonly #end = new AbortController();
  readonly #waiting = boundedWaiting();
  #current: Attempt | undefined;

  /** `part`: the name in the log. */
  constructor(
    open: (life: AbortSignal) => Promise<Wire>,
    log: Log,
    deadline: number,
    part = 'Redis',
  ) {
    this.#deadline = deadline;
    this.#open = open;
    this.#outage = new Outage(part, log, () => performance.now());
  }

  use<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    return this.#waiting(() => this.#use(work));
  }

  async #use<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    if (this.#end.signal.aborted) throw new StoreUnavailable('the store is closed');
    // The server has closed an idle connection: the next command need not fail.
    if (this.#current?.wire?.open === false) this.#retire(this.#current);
    const attempt = (this.#current ??= this.#begin());
    try {
      const result = await within(this.#deadline, attempt.opening.then(work));
      this.#outage.worked();
      return result;
    } catch (error) {
      const reason = plain(error);
      this.#outage.failed(reason);
      if (!attempt.failed && !isAmidMove(error)) {
        attempt.failed = true;
        setTimeout(() => this.#retire(attempt), PAUSE).unref();
      }
      const refused = error instanceof Error && REFUSED.test(error.message);
      const full = error instanceof Error && error.message.startsWith('OOM ');
      throw new StoreUnavailable(reason, { cause: error, refused, full });
    }
  }

  #begin(): Attempt {
    const life = new AbortController();
    const opening = this.#open(AbortSignal.any([life.signal, this.#end.signal]));
    const attempt: Attempt = { life, opening };
    void opening.then(
      (wire) => (attempt.wire = wire),
      () => {},
    );
    return attempt;
  }

  /** The connection stays open until the deadline of its running commands. */
  #retire(attempt: Attempt): void {
    if (this.#current === attempt) this.#current = undefined;
    setTimeout(() => attempt.life.abort(), this.#deadline).unref();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}
