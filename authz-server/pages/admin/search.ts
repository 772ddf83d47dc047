import type { Language } from '#shared/pages/language.ts';
import { Refused } from '#shared/refusals/operations.ts';
import type { AdminSection } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { type Item, type Tell, textIn } from './tell.ts';

/** Rows of each kind. */
const MOST = 20;

/** Characters that are searched: the operations take no more. */
const LONGEST = 256;

interface Found {
  readonly people: readonly Item[];
  readonly clients: readonly Item[];
}

/**
 * Finds the people and clients of whom something begins with a text; an empty text finds none. Those that the whole text
 * names come first: names and addresses that strangers chose must not push them out.
 */
export async function foundBy(text: string, tell: Tell): Promise<Found> {
  if (text === '') return { people: [], clients: [] };
  const members = { search: text.slice(0, LONGEST), limit: MOST };
  const [named, addressed, people, ownId, clients] = await Promise.all([
    allowed(async () => [await tell.one('user show', { name: text })]),
    allowed(() => tell.items('user list', { email: text, limit: MOST })),
    tell.items('user list', members),
    allowed(async () => [await tell.one('client show', { client_id: text })]),
    tell.items('client list', members),
  ]);
  return {
    people: firstOf('name', [...named, ...addressed, ...people]),
    clients: firstOf('client_id', [...ownId, ...clients]),
  };
}

/** Returns what an operation tells; nothing if it refuses the text. */
async function allowed(ask: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
}

/** Returns the first items, each once. */
const firstOf = (member: string, items: readonly Item[]): readonly Item[] =>
  items
    .filter((item, at) => items.findIndex((one) => one[member] === item[member]) === at)
    .slice(0, MOST);

const wayTo = (kind: 'user' | 'client', item: Item) => {
  const member = kind === 'user' ? 'name' : 'client_id';
  return pageOf({ name: `${kind} show` }, { [member]: textIn(item, member) });
};

/** Returns what was found as sections of a page. */
export function shownFound(
  { people, clients }: Found,
  language: Language,
): readonly AdminSection[] {
  const { nav } = textsOf(language).admin;
  return [
    {
      id: 'people',
      title: nav.people,
      columns: ['name', 'display_name', 'id'],
      rows: people.map((item) => ({ item, href: wayTo('user', item) })),
    },
    {
      id: 'applications',
      title: nav.applications,
      columns: ['client_name', 'client_id'],
      rows: clients.map((item) => ({ item, href: wayTo('client', item) })),
    },
  ];
}

/** Returns what was found for the script of a page: `items` are links, `said` is how many there are, in words. */
export function itemsFound({ people, clients }: Found, language: Language): object {
  const { find } = textsOf(language).admin;
  const items = [
    ...people.map((item) => ({
      href: wayTo('user', item),
      text: textIn(item, 'name'),
      detail: [find.person, textIn(item, 'display_name')].filter(Boolean).join(', '),
    })),
    ...clients.map((item) => ({
      href: wayTo('client', item),
      text: textIn(item, 'client_name'),
      detail: [find.application, textIn(item, 'client_id')].join(', '),
    })),
  ];
  return { items, said: find.found(items.length) };
}
