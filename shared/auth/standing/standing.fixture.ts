import type { Standing } from './standing.ts';

/** A `Standing` in which nothing is ever revoked. */
export const NEVER_ENDS: Standing = {
  mark: () => ({ epoch: undefined, raises: 0 }),
  watch: () => () => {},
  holds: async () => true,
};
