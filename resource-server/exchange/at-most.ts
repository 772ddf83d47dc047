import { HttpError } from '#shared/http/answer.ts';
import type { Share } from '#shared/base/counts.js';
import type { Tally } from '#shared/server/limits/leases.ts';
import { createTally } from '#shared/server/limits/tally.ts';
import type { Holder } from '../space/account.ts';

/** Runs the work. Throws `HttpError` 503 if too much work with the same key is running. */
export type AtMost = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Limits the running work with the name `name`, in all workers of this server together, to `most` for each key. */
export function createAtMost(name: string, most: number): AtMost {
  const tally = createTally(name);
  return (key, work) => counted(tally, [{ of: key, amount: 1, most }], work);
}

/** Runs the work. Throws `HttpError` 503 if too much work is running, in total or for one of its holders. */
export type InShares = <T>(holders: readonly Holder[], work: () => Promise<T>) => Promise<T>;

/**
 * Limits the running work with the name `name`, in all workers of this server together, to `most` in total. One holder
 * may use its part of what the others leave (`fairShare`).
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
  // Without other workers the work begins synchronously.
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
