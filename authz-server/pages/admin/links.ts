import type { Operation } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminLink } from '../frame/admin-view.ts';
import { namedTitle, operationWords } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import { groupOf, pageOf } from './addresses.ts';
import { repeatedIn } from './members.ts';
import { type Item, itemOf, textIn } from './tell.ts';

/**
 * Returns the page that shows an item of a list, or the one that removes it; undefined: there is none, or the item does not
 * say which it is.
 */
export function pageOfItem(
  list: Operation,
  item: unknown,
  last: 'show' | 'remove',
): string | undefined {
  const page = OPERATIONS.find(({ name }) => name === `${kindOf(list)} ${last}`);
  const members = page && namedBy(page, item);
  return members && pageOf(page, members);
}

/** The kind of thing that an operation works on: its name without the last word, such as `user key`. */
const kindOf = ({ name }: Pick<Operation, 'name'>) => name.replace(/ [^ ]+$/, '');

/** Whether an operation takes something from somebody. */
export const takes = ({ name }: Pick<Operation, 'name'>): boolean =>
  /[ -](?:end|remove|disable|revoke)$/.test(name);

/** The ways from a list as a whole. */
const FROM_LISTS: Readonly<Record<string, readonly string[]>> = {
  'client list': ['client add'],
  'key list': ['key add'],
  'user list': ['user invite', 'user add', 'user key list', 'user key add', 'user passkey list'],
  'signing-keys list': ['signing-keys rotate'],
  'private-token keys': ['private-token rotate'],
  'cache stats': ['cache purge', 'cache ban', 'cache bans'],
  'cache bans': ['cache ban'],
};

/** The usual ways come first: to the page of a person or client, and from there to the change of their settings. */
const FIRST: ReadonlySet<string> = new Set(['user show', 'client show', 'user set', 'client set']);

const IN_ORDER = [
  ...OPERATIONS.filter(({ name }) => FIRST.has(name)),
  ...OPERATIONS.filter(({ name }) => !FIRST.has(name)),
];

/** Whether an operation has a meaning for what is shown; by default it has. */
const FITS: Readonly<Record<string, (told: unknown) => boolean>> = {
  'client secret': (told) =>
    String(itemOf(told)['token_endpoint_auth_method']).startsWith('client_secret_'),
  // Its document says what it is.
  'client set': (told) => itemOf(told)['document'] === undefined,
  'user add': () => false,
  // Somebody who waits may be invited again.
  'user invite': (told) => itemOf(told)['passwordless'] === true,
  'user disable': (told) => itemOf(told)['disabled'] !== true,
  'user second-factor-remove': (told) =>
    itemOf(told)['second_factor'] !== undefined || itemOf(told)['set_up'] === true,
  'user enable': (told) => itemOf(told)['disabled'] === true,
};

/** Returns the ways to the other operations on what is shown, with their forms filled in. `whose`: its name. */
export function linksFrom(
  shown: Operation,
  told: unknown,
  language: Language,
  whose = nameIn(itemOf(told)),
): readonly AdminLink[] {
  const fromList = FROM_LISTS[shown.name];
  if (fromList)
    return fromList.map((name) => ({ href: pageOf({ name }), text: titleOf({ name }, language) }));
  // Nothing more can be done with what is gone.
  if (typeof told === 'object' && told !== null && 'removed' in told) return [];
  return IN_ORDER.flatMap((operation) => {
    if (operation === shown || groupOf(operation) !== groupOf(shown)) return [];
    // A thing of another kind has another identifier.
    if (kindOf(operation) !== kindOf(shown) && operation.operands.length > 1) return [];
    const members = namedBy(operation, told);
    if (members === undefined || FITS[operation.name]?.(told) === false) return [];
    const text = wayTo(operation, language, whose);
    const href = pageOf(operation, members);
    if (!takes(operation)) return [{ href, text }];
    const does = operationWords(language, operation.name)?.text ?? operation.summary;
    return [{ href, text, danger: true as const, does }];
  });
}

/** The name of the client or the person of which something is told. Undefined: it tells none. */
const nameIn = (told: Item): string | undefined =>
  ['client_name', 'person', 'name'].map((member) => textIn(told, member)).find(Boolean);

/** The title of an operation on somebody; to their own page, that it opens them. */
const wayTo = (operation: Operation, language: Language, whose: string | undefined): string =>
  whose !== undefined && ['client show', 'user show'].includes(operation.name)
    ? textsOf(language).admin.open(whose)
    : titleOf(operation, language, whose);

/** The title of an operation, on somebody if a name is given; its own name if nobody has put it in words. */
export const titleOf = (
  operation: Pick<Operation, 'name'>,
  language: Language,
  whose?: string,
): string =>
  (whose === undefined ? undefined : namedTitle(language, operation.name, whose)) ??
  operationWords(language, operation.name)?.title ??
  operation.name;

/**
 * Returns the members that say on what an operation works, as something tells them. What belongs to a person names them as
 * `person`; its own name, which they chose, may be that of somebody else.
 */
function namedBy(
  { operands, input }: Operation,
  told: unknown,
): Readonly<Record<string, string>> | undefined {
  // Several values say what becomes of a thing, not which it is.
  const several = repeatedIn({ input });
  const naming = operands.filter((name) => !several.has(name));
  if (naming.length === 0 || typeof told !== 'object' || told === null) return undefined;
  const valueOf = (name: string): unknown => Object.getOwnPropertyDescriptor(told, name)?.value;
  const members = naming.map((name) => [
    name,
    name === 'name' && 'person' in told ? valueOf('person') : valueOf(name),
  ]);
  const isWhole = members.every(([, value]) => typeof value === 'string');
  return isWhole ? (Object.fromEntries(members) as Readonly<Record<string, string>>) : undefined;
}
