import { HttpError } from '#shared/http/answer.ts';
import { createTally } from '#shared/server/tally.ts';

/** Does the work unless too much with the same key is under way: then it throws `HttpError` 503. */
export type AtMost = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Bounds, in all workers of this server together, how much of what is called so is under way: `most` of each key. */
export function createAtMost(name: string, most: number): AtMost {
  const tally = createTally(name);
  return async (key, work) => {
    const one = [{ of: key, amount: 1, most }];
    const taken = tally.take(one);
    // Where there are no others to ask, it begins at once.
    if (!(typeof taken === 'boolean' ? taken : await taken)) {
      throw new HttpError(503, 'Too many of these are under way. Try again.', {
        'Retry-After': '1',
      });
    }
    try {
      return await work();
    } finally {
      tally.give(one);
    }
  };
}
