import type { AuditEvent } from '#shared/audit/event-kinds.ts';

/** The outcome for an item of a file: it was missing here, different here, or equal. */
export type Put = 'added' | 'replaced' | 'same';

export interface Counts {
  readonly added: number;
  /** How many items existed here, including equal items. */
  readonly replaced: number;
}

/** Items between two reports of progress. */
const SOME = 1000;

/** Called with the number of items written so far. */
export type Progress = (done: number) => void;

/** Writes the items of a file one by one. Its event is recorded with the first change. */
export class Writing {
  readonly #untold: AuditEvent[];
  readonly #tell: Progress;
  #done = 0;

  constructor(event: AuditEvent, tell: Progress) {
    this.#untold = [event];
    this.#tell = tell;
  }

  /** `put` makes at least one change together with the events, unless it resolves to `same`. */
  async counted<T>(
    items: readonly T[],
    put: (item: T, ...events: readonly AuditEvent[]) => Promise<Put>,
  ): Promise<Counts> {
    let added = 0;
    for (const item of items) {
      const outcome = await put(item, ...this.#untold);
      if (outcome === 'added') added += 1;
      if (outcome !== 'same') this.#untold.length = 0;
      this.#done += 1;
      if (this.#done % SOME === 0) this.#tell(this.#done);
    }
    return { added, replaced: items.length - added };
  }
}
