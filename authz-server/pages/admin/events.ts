import type { Language } from '#shared/pages/language.ts';
import type { AdminEvent, AdminLink } from '../frame/admin-view.ts';
import { eventWord, memberWord } from '../texts/admin/words.ts';
import { pageOf } from './addresses.ts';
import { type Item, itemOf, textIn } from './tell.ts';

/** The members of an event that its line has, or that are shown in words. */
const OWN: ReadonlySet<string> = new Set(['seq', 'time', 'kind', 'who', 'how', 'person', 'client']);

/** Returns an event as a line with details. `told` has the names of people and clients by id. */
export function eventLine(event: Item, told: Item, language: Language): AdminEvent {
  const [names, clients] = [itemOf(told['names']), itemOf(told['client_names'])];
  const who = itemOf(event['who']);
  const personBy = textIn(who, 'person');
  // A newer version may have written words that this one does not know.
  const inWords = (of: 'kinds' | 'doors' | 'actors', word: unknown) =>
    eventWord(language, of, String(word)) ?? word;
  const person = named(textIn(event, 'person'), names);
  const client = clientLink(textIn(event, 'client'), clients);
  const by =
    named(personBy, names) ??
    clientLink(textIn(who, 'client'), clients) ??
    (personBy || String(inWords('actors', event['who'])));
  const label = (name: string) => memberWord(language, name) ?? name;
  const others = Object.entries(event)
    .filter(([name]) => !OWN.has(name) && !(name === 'id' && event['kind'] === 'sign-in'))
    .map(([name, value]) => {
      const known = name === 'what' ? eventWord(language, 'whats', String(value)) : undefined;
      return [label(name), known ?? String(value)] as const;
    });
  const about = [person ?? textIn(event, 'person'), client]
    .map((one) => (typeof one === 'object' ? one.text : one))
    .filter(Boolean);
  return {
    at: Date.parse(textIn(event, 'time')),
    title: String(inWords('kinds', event['kind'])),
    ...(about.length > 0 && { about: about.join(', ') }),
    details: [
      [label('at'), textIn(event, 'time')],
      [label('who'), by],
      [label('how'), String(inWords('doors', event['how']))],
      [label('person'), person ?? (textIn(event, 'person') || undefined)],
      [label('client'), client],
      ...others,
    ],
  };
}

/** The way to a client, by its name, which others may have, and its identifier. Undefined: the event has none. */
function clientLink(id: string, clients: Item): AdminLink | string | undefined {
  if (id === '') return undefined;
  const name = textIn(clients, id);
  if (name === '') return id;
  return { href: pageOf({ name: 'client show' }, { client_id: id }), text: `${name} (${id})` };
}

/** The way to a person, by name; undefined: nobody is here by that id any more. */
function named(id: string, names: Item) {
  const name = id === '' ? '' : textIn(names, id);
  return name === '' ? undefined : { href: pageOf({ name: 'user show' }, { name }), text: name };
}
