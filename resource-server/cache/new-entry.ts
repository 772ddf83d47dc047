import { type Random, randomId } from '#shared/base/random.ts';
import type { Times } from './rules/rules.ts';
import type { Storing } from './rules/storing.ts';
import { tagsOf } from './rules/tags.ts';
import type { CacheKey, Stored } from './rules/stored.ts';

/** Returns the entry to store for an answer that has begun. */
export function newEntry(
  key: CacheKey,
  { lines, vary }: Extract<Storing, { store: true }>,
  about: Times & Pick<Stored, 'status' | 'length'>,
  random: Random,
): Stored {
  const { status, length, requested, received } = about;
  const id = randomId(random);
  const tags = tagsOf(lines);
  return { ...key, id, status, lines, vary, requested, received, length, tags, outdated: false };
}
