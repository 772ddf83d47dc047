import { EventEmitter } from 'node:events';
import type { Lines } from '../forwarding/fields.ts';
import type { AnswerHead, Ending, Sink } from '../forwarding/sink.ts';
import type { Pieces } from '../answers/pieces.ts';
import { GrowingContent } from './growing-content.ts';
import type { Writing } from './store/cache-store.ts';
import type { Stored } from './rules/stored.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

/** Octets: a shorter answer is fetched to its end even if all its clients have left. */
const FINISHED = 1024 * 1024;

/** A stored answer, updated by the application's answer. */
export interface Told {
  readonly stored: Stored;
  /**
   * `kept`: the update is stored and may be shared. `before`: it is for this request only, and the stored answer stays
   * unchanged. `ended`: the stored answer is removed.
   */
  readonly keep: 'kept' | 'before' | 'ended';
}

/** The decision about an answer, by its head. */
export type Begun =
  /**
   * The answer is stored while it arrives, and can be read. `lines`: include those that are only for the client that
   * asked.
   */
  | {
      readonly kind: 'stored';
      readonly stored: Stored;
      readonly writing: Writing;
      readonly lines: Lines;
    }
  /** A stored answer is used: it was validated, or it replaces an error or a missing answer. */
  | (Told & { readonly kind: 'instead'; readonly why: 'validated' | 'error' | 'silence' })
  /** The 304 names no stored answer: the cache asks again without conditions. */
  | { readonly kind: 'again' }
  /** The answer goes only to the client that asked for it. `why`: the reason. */
  | { readonly kind: 'passed'; readonly why: string };

export interface FillOptions {
  /** The client that asked. Undefined: a background refresh. */
  readonly asker: Sink | undefined;
  /** Throws HttpError 502 for an answer that must not be passed on. */
  readonly decide: (head: AnswerHead) => Begun;
  /** Called when the whole answer has arrived, and no invalidation came since it was requested. */
  readonly commit: (stored: Stored, writing: Writing) => Promise<void>;
  /** Called when an answer can no longer be kept while it is being stored: it is too long, or the store fails. */
  readonly outgrown?: () => void;
  /** Called once when the answer ends, whole or not. */
  readonly over: () => void;
}

/** The lifetime of an answer that is not bound to a single client. */
class Life extends EventEmitter implements Ending {
  destroyed = false;

  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** An answer that is requested once, and that several clients may read as it arrives. */
export class Fill implements Sink {
  /** Rejects with the reason if no answer comes. */
  readonly begun: Promise<Begun>;
  readonly #options: FillOptions;
  readonly #head = Promise.withResolvers<Begun>();
  #became: Begun | undefined;
  #content: GrowingContent | undefined;
  #interested = 0;
  #doomed = false;
  #over = false;
  /** Whether the store has committed or abandoned the answer. */
  #kept = false;
  readonly #life = new Life();
  refused = false;
  declines: Sink['declines'] = () => false;

  constructor(options: FillOptions) {
    this.#options = options;
    this.begun = this.#head.promise;
    this.begun.catch(() => {}); // no client may be waiting for the rejection
  }

  get exchange(): Ending {
    return this.#life;
  }

  /** The answer, once it has begun to be stored. */
  get stored(): Stored | undefined {
    return this.#became?.kind === 'stored' ? this.#became.stored : undefined;
  }

  /** Whether an invalidation came after the answer had been requested. */
  get doomed(): boolean {
    return this.#doomed;
  }

  /**
   * Called for an invalidation after the request was sent: the answer is not kept, and no further client waits for it.
   */
  doom(): void {
    this.#doomed = true;
  }

  /** Whether a new reader can still read the answer from its beginning. */
  get readable(): boolean {
    return this.#content?.readable !== false;
  }

  /** Whether a new client may join. */
  get open(): boolean {
    return this.readable && !this.#life.destroyed;
  }

  /**
   * Counts a client that waits for the answer or reads it, until its exchange closes. Returns a function that ends this
   * earlier.
   */
  attend(exchange: Ending): () => void {
    this.#interested += 1;
    let attending = true;
    const leave = () => {
      if (!attending) return;
      attending = false;
      this.#interested -= 1;
      this.#look();
    };
    exchange.once('close', leave);
    if (exchange.destroyed) leave();
    return leave;
  }

  /** Whether another reader gets all stored octets at its own pace. */
  async isSafe(): Promise<boolean> {
    return (await this.#content?.safe) === true;
  }

  /** The stored content, for a waiting client. */
  pieces(first?: number, last?: number): Pieces {
    if (this.#content === undefined) throw new Error('there is nothing to read');
    return this.#content.pieces(first, last);
  }

  get wanted(): boolean {
    if (this.#over) return false;
    if (this.#became?.kind === 'passed') return this.#options.asker?.wanted ?? false;
    if (this.#interested > 0) return true;
    if (this.#doomed || this.#content?.kept === false) return false;
    return this.#options.asker === undefined || (this.stored?.length ?? Infinity) <= FINISHED;
  }

  interim(head: AnswerHead): void {
    this.#options.asker?.interim(head);
  }

  begin(head: AnswerHead): void {
    this.refused = true;
    const became = this.#options.decide(head);
    this.refused = false;
    this.#became = became;
    if (became.kind === 'passed') this.#options.asker?.begin(head);
    if (became.kind === 'stored') {
      const { writing, stored } = became;
      const { outgrown } = this.#options;
      this.#content = new GrowingContent({
        writing,
        sized: stored.length !== undefined,
        outgrown,
      });
    }
    this.#head.resolve(became);
    if (became.kind === 'instead' && became.why === 'error') this.#finish(false);
    if (became.kind === 'passed' && this.#options.asker === undefined) this.#finish(false);
  }

  write(piece: Buffer): boolean {
    if (this.#became?.kind === 'passed') return this.#options.asker?.write(piece) ?? true;
    const goesOn = this.#content?.write(piece) ?? true;
    if (!goesOn) this.#look();
    return goesOn;
  }

  drained(resume: () => void): void {
    if (this.#became?.kind === 'passed') this.#options.asker?.drained(resume);
    else this.#content?.drained(resume);
  }

  end(rawTrailers: readonly string[]): void {
    if (this.#became?.kind === 'passed') this.#options.asker?.end(rawTrailers);
    void this.#content?.end().then(() => this.#finish(true));
    if (this.#content === undefined) this.#finish(true);
  }

  breakOff(): void {
    if (this.#became?.kind === 'passed') this.#options.asker?.breakOff();
    this.#content?.breakOff();
    this.#finish(false);
  }

  /** Rejects `begun`, since no answer will come. */
  fail(error: unknown): void {
    this.#head.reject(error);
    this.#finish(false);
  }

  #finish(whole: boolean): void {
    if (this.#over) return;
    if (this.#became?.kind === 'stored') void this.#settle(this.#became, whole);
    this.#over = true;
    this.#options.over();
    this.#look();
  }

  async #settle({ stored, writing }: Extract<Begun, { kind: 'stored' }>, whole: boolean) {
    try {
      if (whole && !this.#doomed && this.#content?.kept)
        await this.#options.commit(stored, writing);
      else writing.abandon();
    } catch {
      writing.abandon();
    }
    this.#kept = true;
    this.#look();
  }

  /** Closes the request if no client wants its answer, and the content if no client reads it. */
  #look(): void {
    // Deferred by one turn, so that the connection can be reused after the end of the answer.
    if (!this.wanted) {
      setImmediate(() => {
        if (!this.wanted) this.#life.close();
      });
    }
    if (this.#kept && this.#interested === 0 && this.#became?.kind === 'stored') {
      this.#became.writing.close();
    }
  }
}
