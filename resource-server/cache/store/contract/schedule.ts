import type { Stored } from '../../rules/stored.ts';
import { someAnswer } from './under-test.ts';

/** The writes and removals of a process that is killed, from which a test computes what must be left. */

export const answer = (n: number): Stored =>
  someAnswer({ id: `id-${n}`, target: `/${n}`, tags: [`group ${Math.floor(n / 100)}`] });

/** Content of 0 to 300 KB. */
export const contentOfAnswer = (n: number): Buffer =>
  Buffer.alloc((n * 7919) % 300_000, `content ${n} `);

/** The answers that an entry of the feed removes: every third removes the answer before, every hundredth a group. */
export const removedBy = (position: number): readonly number[] => {
  if (position % 100 === 99) return Array.from({ length: 90 }, (_, n) => position - 99 + n);
  return position % 3 === 0 ? [position - 1] : [];
};
