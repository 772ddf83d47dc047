import { EventEmitter } from 'node:events';
import type { Lines } from '../forwarding/fields.ts';
import type { AnswerHead, Ending, Sink } from '../forwarding/sink.ts';
import type { Pieces } from '../answers/pieces.ts';
import { GrowingContent } from './growing-content.ts';
import type { Writing } from './store/cache-store.ts';
import type { Stored } from './rules/stored.ts';
import { setImmediate } from '#shared/base/safe-timers.ts';

/** Octets of an answer that nobody waits for any more, up to which it is fetched to its end all the same. */
const FINISHED = 1024 * 1024;

/** A stored answer as an answer says that it is now. */
export interface Told {
  readonly stored: Stored;
  /** So for others, too; or for this request alone, and stored as it was `before`, or no longer. */
  readonly keep: 'kept' | 'before' | 'ended';
}

/** The decision about an answer, by its head. */
export type Begun =
  /** It is stored as it comes, and can be read; `lines`: with those that are only for the client that asked. */
  | {
      readonly kind: 'stored';
      readonly stored: Stored;
      readonly writing: Writing;
      readonly lines: Lines;
    }
  /** The one that is stored already is to be used: it was validated, or stands for an error or no answer. */
  | (Told & { readonly kind: 'instead'; readonly why: 'validated' | 'error' | 'silence' })
  /** It is about nothing that is stored: what was asked has to be asked without conditions. */
  | { readonly kind: 'again' }
  /** The answer goes only to the client that asked for it; the reason. */
  | { readonly kind: 'passed'; readonly why: string };

export interface FillOptions {
  /** The client that asks; undefined: none, a stored answer is refreshed. */
  readonly asker: Sink | undefined;
  /** Throws HttpError 502 for an answer that must not be passed on. */
  readonly decide: (head: AnswerHead) => Begun;
  /** Called when all of the answer is there, and nothing was invalidated since it was asked for. */
  readonly commit: (stored: Stored, writing: Writing) => Promise<void>;
  /** Called when an answer that is being stored can be kept no longer: it is too long, or the store fails. */
  readonly outgrown?: () => void;
  /** Called when it is over, whatever came of it. */
  readonly over: () => void;
}

/** The life of an answer that belongs to no single client. */
class Life extends EventEmitter implements Ending {
  destroyed = false;

  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** An answer that is asked for once, and that several may read as it comes. */
export class Fill implements Sink {
  /** Rejects with what kept the answer from coming. */
  readonly begun: Promise<Begun>;
  readonly #options: FillOptions;
  readonly #head = Promise.withResolvers<Begun>();
  #became: Begun | undefined;
  #content: GrowingContent | undefined;
  #interested = 0;
  #doomed = false;
  #over = false;
  /** Whether the store has decided about it. */
  #kept = false;
  readonly #life = new Life();
  refused = false;
  declines: Sink['declines'] = () => false;

  constructor(options: FillOptions) {
    this.#options = options;
    this.begun = this.#head.promise;
    this.begun.catch(() => {}); // there may be nobody to tell
  }

  get exchange(): Ending {
    return this.#life;
  }

  /** The answer, once it has begun to be stored. */
  get stored(): Stored | undefined {
    return this.#became?.kind === 'stored' ? this.#became.stored : undefined;
  }

  /** Whether something was invalidated after it had been asked for. */
  get doomed(): boolean {
    return this.#doomed;
  }

  /** It is not kept, and nobody else waits for it: something was invalidated after it had been asked for. */
  doom(): void {
    this.#doomed = true;
  }

  /** Whether who comes now can read it from its beginning. */
  get readable(): boolean {
    return this.#content?.readable !== false;
  }

  /** Whether others may come to it. */
  get open(): boolean {
    return this.readable && !this.#life.destroyed;
  }

  /** Somebody waits for the answer, or reads it. Returns what ends that before the exchange closes. */
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

  /** Whether another reader gets all of what is stored at its own pace. */
  async isSafe(): Promise<boolean> {
    return (await this.#content?.safe) === true;
  }

  /** The stored content, for a client that waits. */
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

  /** There will be no answer. */
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

  /** Whether anybody wants more of it, or of what is there. */
  #look(): void {
    // Later: the connection that the end of the answer came over is to be used again.
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
