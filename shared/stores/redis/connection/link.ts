import type { Log } from '#shared/base/log.ts';
import { within } from '#shared/base/within.ts';
import { Outage } from '#shared/stores/outage/outage.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { boundedWaiting } from '../../outage/waiting.ts';
import { plain } from './plain.ts';
import type { Wire } from './topology.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Milliseconds between an error and the next attempt to connect; until then commands fail at once. */
const PAUSE = 100;

/** Errors that Redis gives only before the first write of a command or script. */
const REFUSED = /^(?:MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN) /;

/**
 * Whether a Cluster refuses keys since some have gone with their slot and others have not, or are nowhere. Nothing else is wrong
 * with the connection.
 */
export const isAmidMove = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('TRYAGAIN ');

interface Attempt {
  readonly life: AbortController;
  readonly opening: Promise<Wire>;
  wire?: Wire;
  failed?: true;
}

/**
 * One connection that is opened when it is needed and replaced after any error, by then perhaps to
 * another master. No command waits longer than `deadline` milliseconds, and no more than
 * `MOST_WAITING` wait; every error is `StoreUnavailable`.
 */
export class Link implements Disposable {
  readonly #open: (life: AbortSignal) => Promise<Wire>;
  readonly #outage: Outage;
  readonly #deadline: number;
  readonly #end = new AbortController();
  readonly #waiting = boundedWaiting();
  #current: Attempt | undefined;

  /** `part` names it in the log, which says when it begins to fail and when it works again. */
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
    // Closed while nobody used it: no reason for the next command to fail.
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

  /** Its connection lives on until the commands in flight on it have met their deadline. */
  #retire(attempt: Attempt): void {
    if (this.#current === attempt) this.#current = undefined;
    setTimeout(() => attempt.life.abort(), this.#deadline).unref();
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}
