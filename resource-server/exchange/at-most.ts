import { HttpError } from '#shared/http/answer.ts';
import type { Share } from '#shared/base/counts.js';
import type { Tally } from '#shared/server/limits/leases.ts';
import { createTally } from '#shared/server/limits/tally.ts';
import type { Holder } from '../space/account.ts';

/** Does the work. Throws `HttpError` 503 if too much work with the same key is under way. */
export type AtMost = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Bounds how much work named `name` is under way, in all workers of this server together: `most` for each key. */
export function createAtMost(name: string, most: number): AtMost {
  const tally = createTally(name);
  return (key, work) => counted(tally, [{ of: key, amount: 1, most }], work);
}

/** Does the work. Throws `HttpError` 503 if too much is under way, in all or for one of its holders. */
export type InShares = <T>(holders: readonly Holder[], work: () => Promise<T>) => Promise<T>;

/**
 * Bounds how much work named `name` is under way, in all workers of this server together: `most` in all. One holder may
 * have its part of that, and less the more the others hold (`fairShare`).
 */
export function createInShares(name: string, most: number): InShares {
  const tally = createTally(name);
  const all = { of: 'all', most };
  return (holders, work) => {
    const shares = holders.map((holder) => ({
      of: `of ${holder.name}`,
      amount: 1,
      most: most * holder.part,
      within: all,
    }));
    return counted(tally, [...shares, { ...all, amount: 1 }], work);
  };
}

async function counted<T>(
  tally: Tally,
  shares: readonly Share[],
  work: () => Promise<T>,
): Promise<T> {
  const taken = tally.take(shares);
  // Without other workers to ask, the work begins at once.
  if (!(typeof taken === 'boolean' ? taken : await taken)) {
    throw new HttpError(503, 'Too many of these are under way. Try again.', {
      'Retry-After': '1',
    });
  }
  try {
    return await work();
  } finally {
    tally.give(shares);
  }
}
