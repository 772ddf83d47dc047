import { HttpError } from '#shared/http/answer.ts';

/** Does the work unless too much with the same key is under way: then it throws `HttpError` 503. */
export type AtMost = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Bounds, in this process, how much is under way at a time: `most` of each key. */
export function createAtMost(most: number): AtMost {
  const underWay = new Map<string, number>();
  return async (key, work) => {
    const before = underWay.get(key) ?? 0;
    if (before >= most) {
      throw new HttpError(503, 'Too many of these are under way. Try again.', {
        'Retry-After': '1',
      });
    }
    underWay.set(key, before + 1);
    try {
      return await work();
    } finally {
      const others = (underWay.get(key) ?? 0) - 1;
      if (others === 0) underWay.delete(key);
      else underWay.set(key, others);
    }
  };
}
