import type { PersonRecord } from '#shared/stores/people/people.ts';
import { addressKey } from './mail-address.ts';

/** Returns the search key of everybody who has an address. */
export const emailSearchKey = (address: string) => `email:${addressKey(address)}`;

/** Returns the search key of everybody whose name looks like this one. */
export const looksSearchKey = (name: string) => `looks:${looksOf(name)}`;

/**
 * Characters that people take for others, in this order, within the letters of names that people choose themselves. `cl` is not
 * taken for `d`, nor a digit but 0 and 1 for a letter: Clara and Dara, `user5` and `users` are several people.
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

/** Returns all keys by which a person is found among others. */
export const searchKeysOf = ({
  name,
  profile,
}: Pick<PersonRecord, 'name' | 'profile'>): readonly string[] => [
  ...new Set((profile?.emails ?? []).map(({ address }) => emailSearchKey(address))),
  looksSearchKey(name),
];
