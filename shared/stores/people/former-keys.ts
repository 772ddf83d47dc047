import type { PersonRecord } from './people.ts';

/**
 * Returns what is remembered, as hashes, of somebody who is removed: the name, and the search key of its looks. No name has
 * the colon of a search key. Addresses are forgotten.
 */
export const formerKeys = ({
  name,
  search_keys = [],
}: Pick<PersonRecord, 'name' | 'search_keys'>): readonly string[] => [
  name,
  ...search_keys.filter(isLooks),
];

/** Whether it is the search key of the looks of a name. */
export const isLooks = (key: string): boolean => key.startsWith('looks:');
