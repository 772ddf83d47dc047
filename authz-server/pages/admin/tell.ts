import { type House, perform } from '#shared/operations/operation.ts';
import type { Values, Words } from '#shared/refusals/words.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';

/** Members of something that an operation gave. */
export type Item = Readonly<Record<string, unknown>>;

/** Reads by an operation that is named: pages know nothing but what operations tell. */
export interface Tell {
  one(name: string, members?: Item): Promise<Item>;
  /** The items of a page of a list. */
  items(name: string, members?: Item): Promise<readonly Item[]>;
}

export function createTell(house: House): Tell {
  async function one(name: string, members: Item = {}): Promise<Item> {
    const operation = OPERATIONS.find((known) => known.name === name && known.effect === 'reads');
    if (operation === undefined) throw new Error(`no operation reads by the name ${name}`);
    return itemOf(await perform(operation, members, house));
  }
  return {
    one,
    items: async (name, members) => itemsOf((await one(name, members))['items']),
  };
}

/** Something as an object; of anything else, one without members. */
export const itemOf = (told: unknown): Item =>
  typeof told === 'object' && told !== null ? (told as Item) : {};

/** The scopes of a grant, of all its resources, as text. */
export const scopesIn = (grant: Item): string =>
  Object.values(itemOf(grant['scopes'])).flat().join(' ');

/** The members of a list as objects. */
export const itemsOf = (told: unknown): readonly Item[] =>
  Array.isArray(told) ? told.map(itemOf) : [];

/** A member as text; empty: it is none. */
export const textIn = (item: Item, name: string): string => {
  const value = item[name];
  return typeof value === 'string' ? value : '';
};

/** Returns a member of a list as the text of a table that it is. */
export const wordsOf = (item: Item): Words => ({
  code: textIn(item, 'code'),
  values: itemOf(item['values']) as Values,
  message: textIn(item, 'message'),
});
