import * as z from 'zod';
import { InputError } from './operation.ts';
import { wholeNumber } from './whole-number.ts';
import { said } from '#shared/refusals/operations.ts';

/** Most rows of a page. */
const MOST = 100;

/** The input members of every list, which select the page. */
export const pageInput = {
  after: z
    .string()
    .max(512)
    .optional()
    .describe('the `next` of the previous page; default: the first page'),
  limit: wholeNumber(1, MOST).default(MOST).describe(`rows of the page, at most ${MOST}`),
};

/** The output of every list: a page, and the position of the next page, if there is one. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: z.array(item), next: z.string().optional() });

/** One page of a list. */
export interface Page<T = unknown> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

/**
 * Makes a page from rows of which one more was read than the page has. If that row exists, the next page begins after
 * this page's last row.
 */
export function pageFrom<T>(rows: readonly T[], limit: number, name: (row: T) => string): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, ...(rows.length > limit && last !== undefined && { next: name(last) }) };
}

/**
 * Makes a page of a list that is short enough to be read whole. `name`: returns a row's name, after which the next
 * page begins. Throws `InputError` if no row has the given name.
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
