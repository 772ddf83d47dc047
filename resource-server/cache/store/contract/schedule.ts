import type { Stored } from '../../rules/stored.ts';
import { someAnswer } from './under-test.ts';

/** The writes and removals of a process that is killed, from which its successor knows what there must be. */

export const answer = (n: number): Stored =>
  someAnswer({ id: `id-${n}`, target: `/${n}`, tags: [`group ${Math.floor(n / 100)}`] });

/** From nothing to 300 KB. */
export const contentOfAnswer = (n: number): Buffer =>
  Buffer.alloc((n * 7919) % 300_000, `content ${n} `);

/** The n-th entry of the feed: every third has the answer before it removed, every hundredth a group. */
export const removedBy = (position: number): readonly number[] => {
  if (position % 100 === 99) return Array.from({ length: 90 }, (_, n) => position - 99 + n);
  return position % 3 === 0 ? [position - 1] : [];
};
