import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { lackingOf } from '#shared/people/lacking.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { inOrder, variantsByScheme } from '../lines/by-scheme.ts';
import type { Command, Shell, OutputSlice } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { openShellStores } from '../stores/with-stores.ts';

export const userList: Command = {
  name: 'user list',
  store: 'opens',
  summary: 'list the people, and the realms where they need a new password before they can sign in',
  details: [
    'A person without a verifier for a realm is refused there by Digest, Mutual and SCRAM, as with a wrong password,',
    'until `user passwd` makes one. A verifier of Mutual is for one host and one algorithm. SCRAM takes no password',
    'that clients prepare in different ways, such as one with ½.',
  ],
  run: async (_, shell) => ({ slices: everybody(shell) }),
};

async function* everybody(shell: Shell): AsyncGenerator<OutputSlice> {
  await using opened = await openShellStores(shell);
  const { people } = opened.stores;
  const lacking = lackingOf(people, neededVerifiers(opened.config));
  const widths: number[] = [];
  let nobody = true;
  for await (const slice of people.list()) {
    nobody = false;
    const list: Listed[] = [];
    for (const person of slice) list.push([person, await lacking(person)]);
    yield {
      json: list.map(shown),
      get lines() {
        return table(HEADINGS, list.map(row), widths);
      },
    };
  }
  if (nobody) yield { json: [], lines: ['There is nobody yet.'] };
}

type Listed = readonly [person: PersonRecord, lacks: readonly RealmNeeds[]];

/** A person without what lets them in. */
function shown([person, lacks]: Listed) {
  const { id, name, profile, kerberos, disabled, demo, created_at, version } = person;
  const passwordless = person.password_hash === undefined || undefined;
  const realms = lacks.map(({ realm, kinds }) => ({ realm, ...variantsByScheme(kinds) }));
  const marks = { passwordless, disabled, demo };
  return { id, name, ...profile, kerberos, ...marks, created_at, version, lacks: realms };
}

const HEADINGS = ['id', 'name', 'kerberos', '', '', '', ''];

const row = ([{ id, name, kerberos = [], password_hash, disabled, demo }, lacks]: Listed) => [
  id,
  name,
  kerberos.join(' '),
  disabled ? '(disabled)' : '',
  demo ? '(demo: refused in production)' : '',
  password_hash === undefined ? '(no password)' : '',
  lacks.length > 0 ? `(lacks: ${lacks.map(lackingIn).join('; ')})` : '',
];

const lackingIn = ({ realm, kinds }: RealmNeeds) =>
  `${realm}: ${inOrder(kinds)
    .map(({ title }) => title)
    .join(', ')}`;
