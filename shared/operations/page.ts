import * as z from 'zod';
import { InputError } from './operation.ts';
import { wholeNumber } from './whole-number.ts';
import { said } from '#shared/refusals/operations.ts';

/** Rows of the longest page. */
const MOST = 100;

/** Every list takes these: they say which page of it is asked for. */
export const pageInput = {
  after: z
    .string()
    .max(512)
    .optional()
    .describe('the `next` of the page before; without it the first page'),
  limit: wholeNumber(1, MOST).default(MOST).describe(`rows of the page, at most ${MOST}`),
};

/** Every list gives a page, and where the next one begins, if there is one. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: z.array(item), next: z.string().optional() });

/** One page of a list. */
export interface Page<T = unknown> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/**
 * Makes a page of rows of which one more was read than it has: if that is there, the next page begins after the last
 * of this one.
 */
export function pageFrom<T>(rows: readonly T[], limit: number, name: (row: T) => string): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, ...(rows.length > limit && last !== undefined && { next: name(last) }) };
}

/**
 * Makes a page of a list that is short enough to be read whole. `name`: of a row, by which the next page begins. Throws
 * `InputError` if the list does not have the row that it is to go on after.
 */
export function pageIn<T>(
  all: readonly T[],
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
  name: (row: T) => string,
): Page<T> {
  const last = after === undefined ? -1 : all.findIndex((row) => name(row) === after);
  if (after !== undefined && last < 0) {
    throw new InputError(['after'], said('page-gone'));
  }
  return pageFrom(all.slice(last + 1, last + 2 + limit), limit, name);
}
