import * as z from 'zod';
import { lackingOf } from '#shared/people/lacking.ts';
import { emailSearchKey } from '#shared/people/names/search-keys.ts';
import { type StrongWays, strongWays } from '#shared/people/second-factor/lacks.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import { byOctets, type NameRange } from '#shared/base/name-range.ts';
import { hasWords, rarestKeyOf, wordKeysOf } from '#shared/base/word-keys.ts';
import type { People, PeopleList, PersonRecord } from '#shared/stores/people/people.ts';
import { operation, type Told } from '../operation.ts';
import { pageFrom, pageInput, pageOf } from '../page.ts';
import { SPELLINGS } from '../texts.ts';
import { inOrder, variantsByScheme } from './by-scheme.ts';
import { personMarks, personShown, shownPerson } from './person-shown.ts';
import { secondFactorDemand } from './second-factor-demand.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

const STATES = ['active', 'disabled', 'admin'] as const;

const listed = z.strictObject({
  ...personShown,
  ...personMarks,
  disabled: z.boolean().exactOptional(),
  second_factor: z.boolean(),
  passkeys: z.int().describe('number of passkeys that are valid at the present domain of sign-ins'),
  lacks_second_factor: z
    .boolean()
    .describe('the person needs a second factor, but has neither a second factor nor a passkey'),
  created_at: z.number().describe('milliseconds since the epoch'),
  version: z.int().describe('number of changes'),
  lacks: z
    .array(
      z.looseObject({
        realm: z.string(),
        verifiers: z
          .array(z.string())
          .describe('in words; each scheme also has a member of its own'),
      }),
    )
    .describe('the realms where the person needs a new password'),
});

/** A person in the list of people. */
export type ListedPerson = Told<typeof listed>;

/**
 * Groups and states have indexes. A page is made from as many people as it may have rows. With two filters at once
 * some of these people do not match, so the page has fewer rows, or none.
 */
export const listUsers = operation({
  name: 'user list',
  summary:
    'list the people, their second factors and passkeys, and realms that lack their password',
  effect: 'reads',
  input: z.strictObject({
    lacking_second_factor: z
      .boolean()
      .default(false)
      .describe('only people who must have a second factor and have neither one nor a passkey'),
    email: z
      .string()
      .max(254, fault(said('too-long', { most: 254 })))
      .exactOptional()
      .describe('only people who have this address, verified or not')
      .register(SPELLINGS, { value: 'ADDRESS' }),
    search: z
      .string()
      .max(256, fault(said('reference', { what: 'the beginning of a name' })))
      .exactOptional()
      .describe(
        'only people with this id, or a name, address or word of the display name that begins so',
      ),
    group: z
      .string()
      .max(256, fault(said('reference', { what: 'a group' })))
      .normalize('NFC')
      .exactOptional()
      .describe('only people in this group'),
    state: z
      .enum(STATES)
      .exactOptional()
      .describe(`only people in this state: ${STATES.join(', ')}`),
    ...pageInput,
  }),
  operands: [],
  output: pageOf(listed),
  async run({ lacking_second_factor, email, group, state, search, after, limit }, house) {
    const { stores, realms, config } = house;
    const range = { after, limit: limit + 1 };
    const list = group === undefined ? state && { state } : { group };
    const found = inRange(await matching(stores.people, { email, search, list }, range), range);
    const { items: page, next } = pageFrom(found, limit, ({ name }) => name);
    const asked = page.filter(
      (person) =>
        (state === undefined || IS_IN[state](person)) &&
        (group === undefined || (person.profile?.groups ?? []).includes(group)),
    );
    const lacking = lackingOf(stores.people, realms);
    const items: ListedPerson[] = [];
    for (const person of asked) {
      const ways = await strongWays(stores, secondFactorDemand(config), person);
      if (lacking_second_factor && !ways.lacks_second_factor) continue;
      const lacks = (await lacking(person)).map(shownNeeds);
      items.push(shownListed(person, ways, lacks));
    }
    return { items, next };
  },
});

const IS_IN: Readonly<Record<(typeof STATES)[number], (person: PersonRecord) => boolean>> = {
  active: ({ disabled = false }) => !disabled,
  disabled: ({ disabled = false }) => disabled,
  admin: ({ admin = false }) => admin,
};

interface Filter {
  readonly email: string | undefined;
  readonly search: string | undefined;
  readonly list: PeopleList | undefined;
}

/** Finds the people of a range, and maybe others: with an address, or by the beginning of a text, of very many some. */
async function matching(
  people: People,
  { email, search, list }: Filter,
  range: NameRange,
): Promise<readonly PersonRecord[]> {
  if (email !== undefined) {
    const found = await people.search(emailSearchKey(email));
    return search === undefined ? found : found.filter((person) => isMatch(person, search));
  }
  if (search === undefined || search === '') return people.page({ ...range, list });
  const word = rarestKeyOf(search);
  const found = await Promise.all([
    people.page({ ...range, list, prefix: foldedName(search) }),
    people.searchBeginning(emailSearchKey(search)),
    word === undefined ? [] : people.searchBeginning(word),
    people.get(search),
  ]);
  const persons = found.flat().filter((person) => person !== undefined);
  return persons.filter((person) => isMatch(person, search));
}

function isMatch({ id, name, profile = {} }: PersonRecord, search: string): boolean {
  const { emails = [], display_name = '' } = profile;
  const start = emailSearchKey(search);
  return (
    id === search ||
    name.startsWith(foldedName(search)) ||
    emails.some(({ address }) => emailSearchKey(address).startsWith(start)) ||
    (wordKeysOf(search).length > 0 && hasWords(display_name, search))
  );
}

const foldedName = (text: string) => text.normalize('NFC').toLowerCase();

/** Returns the people of a range, each once, by name. */
function inRange(
  found: readonly PersonRecord[],
  { after = '', limit }: NameRange,
): readonly PersonRecord[] {
  const byName = new Map(found.map((person) => [person.name, person]));
  return [...byName.values()]
    .filter(({ name }) => byOctets(name, after) > 0)
    .toSorted((a, b) => byOctets(a.name, b.name))
    .slice(0, limit);
}

const shownNeeds = ({ realm, kinds }: RealmNeeds) => {
  const verifiers = inOrder(kinds).map(({ title }) => title);
  return { ...variantsByScheme(kinds), realm, verifiers };
};

const shownListed = (
  person: PersonRecord,
  ways: StrongWays,
  lacks: ListedPerson['lacks'],
): ListedPerson => ({
  ...shownPerson(person),
  ...(person.disabled !== undefined && { disabled: person.disabled }),
  ...ways,
  created_at: person.created_at,
  version: person.version,
  lacks,
});
