import { createHash } from 'node:crypto';
import { RecentOctets } from '#shared/base/recent-octets.ts';

/** Something generated for a client from a tree: a listing, or the result of a query. */
export interface Made {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Adds the entity tag, which is computed from the content: equal content has an equal tag. */
export function madeOf(made: Omit<Made, 'etag'>): Made {
  return { ...made, etag: createHash('sha256').update(made.content).digest('base64url') };
}

/**
 * Recently generated answers. The key contains the version of the tree, or of a document's content, from which each
 * answer was generated. A version is never reused, so nothing needs to be invalidated.
 */
export class MadeMemory {
  readonly #made: RecentOctets<Made>;

  /** `budget`: bytes. */
  constructor(budget: number) {
    this.#made = new RecentOctets(budget);
  }

  /** Finds an answer. `what`: the tree and the question. Returns undefined without a version. */
  find(what: readonly string[], version: string | undefined): Made | undefined {
    return version === undefined ? undefined : this.#made.get(keyOf(what, version));
  }

  keep(what: readonly string[], version: string | undefined, made: Made): void {
    if (version === undefined) return;
    // A short buffer is part of a shared pool, which it would keep in memory as a whole.
    const content = Buffer.allocUnsafeSlow(made.content.length);
    made.content.copy(content);
    this.#made.set(keyOf(what, version), { ...made, content }, content.length);
  }
}

const keyOf = (what: readonly string[], version: string) => JSON.stringify([version, ...what]);
