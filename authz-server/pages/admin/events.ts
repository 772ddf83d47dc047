import type { Language } from '#shared/pages/language.ts';
import type { AdminRow } from '../frame/admin-view.ts';
import { eventWord, memberWord } from '../texts/admin/words.ts';
import { pageOf } from './addresses.ts';
import { type Item, itemOf, textIn } from './tell.ts';

/** The columns of events. */
export const EVENT_COLUMNS = ['at', 'kind', 'who', 'how', 'person', 'about'] as const;

/** The members of an event that are columns of their own. */
const OWN: ReadonlySet<string> = new Set(['seq', 'time', 'kind', 'who', 'how', 'person']);

/** Returns an event as a row. The names of people and clients, by id, are those that the operation told beside it. */
export function eventRow(event: Item, told: Item, language: Language): AdminRow {
  const [names, clients] = [itemOf(told['names']), itemOf(told['client_names'])];
  const who = itemOf(event['who']);
  const personBy = textIn(who, 'person');
  // A newer version may have written words that this one does not know.
  const inWords = (of: 'kinds' | 'doors' | 'actors', word: unknown) =>
    eventWord(language, of, String(word)) ?? word;
  const about = Object.entries(event)
    .filter(([name]) => !OWN.has(name) && !(name === 'id' && event['kind'] === 'sign-in'))
    .map(([name, value]) => {
      const known = name === 'what' ? eventWord(language, 'whats', String(value)) : undefined;
      const shown = name === 'client' ? clientText(String(value), clients) : String(value);
      return known ?? `${memberWord(language, name) ?? name}: ${shown}`;
    });
  const cells = { who: named(personBy, names), person: named(textIn(event, 'person'), names) };
  return {
    item: {
      at: Date.parse(textIn(event, 'time')),
      kind: inWords('kinds', event['kind']),
      who:
        personBy || clientText(textIn(who, 'client'), clients) || inWords('actors', event['who']),
      how: inWords('doors', event['how']),
      person: event['person'],
      about: about.join(', '),
    },
    cells,
  };
}

/** A client by its name, which others may have, and its identifier. */
function clientText(id: string, clients: Item): string {
  const name = id === '' ? '' : textIn(clients, id);
  return name === '' ? id : `${name} (${id})`;
}

/** The way to a person, by name; undefined: nobody is here by that id any more. */
function named(id: string, names: Item) {
  const name = id === '' ? '' : textIn(names, id);
  return name === '' ? undefined : { href: pageOf({ name: 'user show' }, { name }), text: name };
}
