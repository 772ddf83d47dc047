import { lackingVerifiers } from '#shared/directory/derive-verifiers.ts';
import { realmNeeds, type RealmNeeds } from '#shared/directory/realms.ts';
import type { PersonRecord } from '#shared/stores/people.ts';
import type { Command } from '../command.ts';
import { columns } from '../printable.ts';
import { withStores } from '../with-stores.ts';

export const userList: Command = {
  name: 'user list',
  summary: 'list the people who may sign in, and the realms where they cannot yet',
  details: [
    'Who lacks a verifier for a realm is refused there by Digest or SCRAM as with a wrong password, until',
    'they get one with `user passwd`. SCRAM takes no password that clients prepare in different ways, such as',
    'one with ½.',
  ],
  run: (_, shell) =>
    withStores(shell, async ({ people }, config) => {
      const realms = realmNeeds(config);
      const list = (await people.list()).map((person) => shown(person, realms));
      return {
        json: list,
        get lines() {
          return list.length === 0 ? ['There is nobody yet.'] : columns(list.map(row));
        },
      };
    }),
};

/** A person without what lets them in. */
function shown(person: PersonRecord, realms: readonly RealmNeeds[]) {
  const { id, name, kerberos, disabled, demo, created_at, version } = person;
  const lacks = lackingVerifiers(person, realms);
  return { id, name, kerberos, disabled, demo, created_at, version, lacks };
}

const row = ({ id, name, kerberos = [], disabled, demo, lacks }: ReturnType<typeof shown>) => [
  id,
  name,
  kerberos.join(' '),
  disabled ? '(disabled)' : '',
  demo ? '(demo: refused in production)' : '',
  lacks.length > 0 ? `(lacks: ${lacks.map(lacking).join(', ')})` : '',
];

const lacking = ({ realm, digest, scram }: RealmNeeds) =>
  [
    `${realm}:`,
    ...digest.map((hash) => `Digest ${hash}`),
    ...scram.map((hash) => `SCRAM-${hash}`),
  ].join(' ');
