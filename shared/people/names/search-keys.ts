import type { PersonRecord } from '#shared/stores/people/people.ts';
import { wordKeysOf } from '#shared/base/word-keys.ts';
import { addressKey } from './mail-address.ts';

/** Returns the search key of all people who have an address. */
export const emailSearchKey = (address: string) => `email:${addressKey(address)}`;

/** Returns the search key of all people whose name looks like this one. */
export const looksSearchKey = (name: string) => `looks:${looksOf(name)}`;

/**
 * Characters that look like others, in this order, among the letters of chosen names. `cl` is not replaced by `d`,
 * nor a digit other than 0 and 1 by a letter: Clara and Dara, or `user5` and `users`, are different people.
 */
const ALIKE = [
  [/[._-]/g, ''],
  [/0/g, 'o'],
  [/[1i]/g, 'l'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
] as const;

/** Returns the same text for names that look alike (after Unicode Technical Standard 39, section 4). */
export const looksOf = (name: string) =>
  ALIKE.reduce((text, [from, to]) => text.replaceAll(from, to), name);

/** Returns all keys by which a search finds a person. */
export const searchKeysOf = ({
  name,
  profile,
}: Pick<PersonRecord, 'name' | 'profile'>): readonly string[] => [
  ...new Set((profile?.emails ?? []).map(({ address }) => emailSearchKey(address))),
  looksSearchKey(name),
  ...wordKeysOf(profile?.display_name ?? ''),
];
