import type { AuditEvent } from '#shared/audit/event-kinds.ts';

/** The outcome for an item of a file: it was not here, or in another form, or just so. */
export type Put = 'added' | 'replaced' | 'same';

export interface Counts {
  readonly added: number;
  /** Those that were here, the same ones, too. */
  readonly replaced: number;
}

/** Writes the items of a file one by one. Its event goes with the first change. */
export class Writing {
  readonly #untold: AuditEvent[];

  constructor(event: AuditEvent) {
    this.#untold = [event];
  }

  /** `put` makes one change at least together with the events, unless it resolves to `same`. */
  async counted<T>(
    items: readonly T[],
    put: (item: T, ...events: readonly AuditEvent[]) => Promise<Put>,
  ): Promise<Counts> {
    let added = 0;
    for (const item of items) {
      const outcome = await put(item, ...this.#untold);
      if (outcome === 'added') added += 1;
      if (outcome !== 'same') this.#untold.length = 0;
    }
    return { added, replaced: items.length - added };
  }
}
