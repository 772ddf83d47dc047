import { counted } from '#shared/base/counted.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { lackingOf } from '#shared/people/lacking.ts';
import { type StrongWays, strongWays } from '#shared/people/second-factor/lacks.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import { emailSearchKey } from '#shared/people/names/search-keys.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import { inOrder, variantsByScheme } from '#shared/operations/people/by-scheme.ts';
import type { Command, Shell, OutputSlice } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { secondFactorDemand } from '#shared/operations/people/second-factor-demand.ts';
import { openShellStores } from '../stores/with-stores.ts';

export const userList: Command = {
  name: 'user list',
  store: 'opens',
  summary:
    'list the people, their second factors and passkeys, and the realms where they need a new password',
  options: {
    'lacking-second-factor': {
      help: 'only people who must have a second factor and have neither one nor a passkey',
    },
    email: { value: 'ADDRESS', help: 'only people who have this address, verified or not' },
  },
  details: [
    'A person without a verifier for a realm is refused there by Digest, Mutual and SCRAM, as with a wrong password,',
    'until `user passwd` makes one. A verifier of Mutual is for one host and one algorithm. SCRAM takes no password',
    'that clients prepare in different ways, such as one with ½.',
  ],
  run: async ({ flag, text }, shell) => ({
    slices: listed(shell, flag('lacking-second-factor'), text('email')),
  }),
};

async function* listed(
  shell: Shell,
  onlyLacking: boolean,
  email: string | undefined,
): AsyncGenerator<OutputSlice> {
  await using opened = await openShellStores(shell);
  const { people } = opened.stores;
  const lacking = lackingOf(people, neededVerifiers(opened.config));
  const demand = secondFactorDemand(opened.config);
  const widths: number[] = [];
  let nobody = true;
  const found = email === undefined ? people.list() : inOneSlice(people, email);
  for await (const slice of found) {
    const ways = await Promise.all(
      slice.map((person) => strongWays(opened.stores, demand, person)),
    );
    const list: Listed[] = [];
    for (const [index, person] of slice.entries()) {
      const has = ways[index];
      if (has === undefined || (onlyLacking && !has.lacks_second_factor)) continue;
      list.push([person, await lacking(person), has]);
    }
    if (list.length === 0) continue;
    nobody = false;
    yield {
      json: list.map(shown),
      get lines() {
        return table(HEADINGS, list.map(row), widths);
      },
    };
  }
  if (!nobody) return;
  const among = email === undefined ? '' : ` with the address ${email}`;
  const none = among === '' ? 'There is nobody yet.' : `There is nobody${among}.`;
  yield { json: [], lines: [onlyLacking ? `Nobody${among} lacks a second factor.` : none] };
}

/** Everybody who has an address, by name; nothing if that is nobody. */
async function* inOneSlice(
  people: Pick<People, 'search'>,
  email: string,
): AsyncGenerator<readonly PersonRecord[]> {
  const found = await people.search(emailSearchKey(email));
  if (found.length > 0) yield found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

type Listed = readonly [person: PersonRecord, lacks: readonly RealmNeeds[], has: StrongWays];

/** A person without what lets them in. */
function shown([person, lacks, has]: Listed) {
  const { id, name, profile, kerberos, disabled, demo, created_at, version } = person;
  const passwordless = person.password_hash === undefined || undefined;
  const realms = lacks.map(({ realm, kinds }) => ({ realm, ...variantsByScheme(kinds) }));
  const marks = { passwordless, disabled, demo };
  return { id, name, ...profile, kerberos, ...marks, ...has, created_at, version, lacks: realms };
}

const HEADINGS = ['id', 'name', 'kerberos', '', '', '', '', '', '', ''];

const row = ([{ id, name, kerberos = [], password_hash, disabled, demo }, lacks, has]: Listed) => [
  id,
  name,
  kerberos.join(' '),
  disabled ? '(disabled)' : '',
  demo ? '(demo: refused in production)' : '',
  password_hash === undefined ? '(no password)' : '',
  has.second_factor ? '(second factor)' : '',
  has.passkeys > 0 ? `(${counted(has.passkeys, 'passkey')})` : '',
  has.lacks_second_factor ? '(must set up a second factor)' : '',
  lacks.length > 0 ? `(lacks: ${lacks.map(lackingIn).join('; ')})` : '',
];

const lackingIn = ({ realm, kinds }: RealmNeeds) =>
  `${realm}: ${inOrder(kinds)
    .map(({ title }) => title)
    .join(', ')}`;
