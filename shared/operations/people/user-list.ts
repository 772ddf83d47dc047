import * as z from 'zod';
import { lackingOf } from '#shared/people/lacking.ts';
import { emailSearchKey } from '#shared/people/names/search-keys.ts';
import { type StrongWays, strongWays } from '#shared/people/second-factor/lacks.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import type { NameRange } from '#shared/base/name-range.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
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
  passkeys: z.int().describe('those that are good at the domain of sign-ins now'),
  lacks_second_factor: z
    .boolean()
    .describe('they must have one, and have neither it nor a passkey'),
  created_at: z.number().describe('milliseconds since the epoch'),
  version: z.int().describe('counts the changes'),
  lacks: z
    .array(
      z.looseObject({
        realm: z.string(),
        verifiers: z.array(z.string()).describe('in words; each scheme has a member, too'),
      }),
    )
    .describe('the realms where they need a new password'),
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
    'list the people, their second factors and passkeys, and the realms where they need a new password',
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
    prefix: z
      .string()
      .max(256, fault(said('reference', { what: 'the beginning of a name' })))
      .transform((text) => text.normalize('NFC').toLowerCase())
      .exactOptional()
      .describe('only people whose name begins with this'),
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
  async run({ lacking_second_factor, email, group, state, limit, ...names }, house) {
    const { stores, realms, config } = house;
    const range = { ...names, limit: limit + 1 };
    const list = group === undefined ? state && { state } : { group };
    const found = await (email === undefined
      ? stores.people.page({ ...range, list })
      : withAddress(stores.people, email, range));
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

/** Finds people with an address, by name; if there are very many, only some. */
async function withAddress(
  people: Pick<People, 'search'>,
  email: string,
  { after = '', prefix = '', limit }: NameRange,
): Promise<readonly PersonRecord[]> {
  const found = await people.search(emailSearchKey(email));
  return found
    .filter(({ name }) => name > after && name.startsWith(prefix))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
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
