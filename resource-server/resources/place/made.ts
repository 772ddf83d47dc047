import { createHash } from 'node:crypto';
import { RecentOctets } from '#shared/base/recent-octets.ts';

/** What was made for a client, of what is in a tree: a listing, or what a query came to. */
export interface Made {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Its entity tag follows from its content: whoever makes the same again has the same tag. */
export function madeOf(made: Omit<Made, 'etag'>): Made {
  return { ...made, etag: createHash('sha256').update(made.content).digest('base64url') };
}

/**
 * What was made lately. What it was made of is named by a version that nothing else ever has, of the tree or of a
 * document's content: so nothing is to be forgotten when that changes.
 */
export class MadeMemory {
  readonly #made: RecentOctets<Made>;

  /** `budget`: octets. */
  constructor(budget: number) {
    this.#made = new RecentOctets(budget);
  }

  /** `what` was asked for, the tree included. Nothing is known of no version. */
  find(what: readonly string[], version: string | undefined): Made | undefined {
    return version === undefined ? undefined : this.#made.get(keyOf(what, version));
  }

  keep(what: readonly string[], version: string | undefined, made: Made): void {
    if (version === undefined) return;
    // A short buffer is a part of one that others share, which would stay for it as a whole.
    const content = Buffer.allocUnsafeSlow(made.content.length);
    made.content.copy(content);
    this.#made.set(keyOf(what, version), { ...made, content }, content.length);
  }
}

const keyOf = (what: readonly string[], version: string) => JSON.stringify([version, ...what]);
