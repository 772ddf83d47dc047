import type { AnswerHead, Ending, Sink } from '../forwarding/sink.ts';

/**
 * An answer that waits for work to be done before its client sees the beginning. Then it goes, whole, to the sink that
 * is chosen for it.
 */
export class HeldAnswer implements Sink {
  readonly exchange: Ending;
  declines: Sink['declines'] = () => false;
  /**
   * Resolves when the answer reaches its sink. Rejects with the reason if choosing the sink fails. Stays pending if no
   * answer comes.
   */
  readonly begun: Promise<void>;
  readonly #begun = Promise.withResolvers<void>();
  readonly #asker: Sink;
  readonly #choose: (head: AnswerHead) => Promise<Sink>;
  #to: Sink | undefined;
  #stopped = false;
  /** The pieces that came before the sink was chosen. */
  #early: ((to: Sink) => void)[] = [];

  constructor(asker: Sink, choose: (head: AnswerHead) => Promise<Sink>) {
    this.#asker = asker;
    this.#choose = choose;
    this.exchange = asker.exchange;
    this.begun = this.#begun.promise;
    this.begun.catch(() => {}); // the connection may break before a caller waits
  }

  get wanted(): boolean {
    return this.#asker.wanted && !this.#stopped;
  }

  get refused(): boolean {
    return this.#to?.refused ?? this.#stopped;
  }

  interim(head: AnswerHead): void {
    this.#asker.interim(head);
  }

  begin(head: AnswerHead): void {
    void this.#goOn(head).then(this.#begun.resolve, (error: unknown) => {
      this.#stopped = true;
      this.#begun.reject(error);
    });
  }

  async #goOn(head: AnswerHead): Promise<void> {
    const to = await this.#choose(head);
    to.begin(head);
    this.#to = to;
    for (const step of this.#early.splice(0)) step(to);
  }

  write(piece: Buffer): boolean {
    if (this.#to) return this.#to.write(piece);
    this.#early.push((to) => to.write(piece));
    return this.#stopped;
  }

  drained(resume: () => void): void {
    if (this.#to) this.#to.drained(resume);
    else this.#early.push(resume);
  }

  end(rawTrailers: readonly string[]): void {
    if (this.#to) this.#to.end(rawTrailers);
    else this.#early.push((to) => to.end(rawTrailers));
  }

  breakOff(): void {
    if (this.#to) this.#to.breakOff();
    else this.#early.push((to) => to.breakOff());
  }
}
