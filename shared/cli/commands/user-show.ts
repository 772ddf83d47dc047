import { counted } from '#shared/base/counted.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { minute } from '../lines/last-use.ts';
import { profileLines } from '../arguments/profile-options.ts';
import { withStores } from '../stores/with-stores.ts';

export const userShow: Command = {
  name: 'user show',
  store: 'opens',
  summary: 'show the profile of a person, and count their sessions, grants, keys and passkeys',
  operands: ['NAME'],
  run: ({ operands: [asked = ''] }, shell) =>
    withStores(shell, async ({ people, artefacts, publicKeys, passkeys }) => {
      const person = await personNamed(people, asked);
      const { id, name, profile, kerberos, disabled = false, demo, created_at } = person;
      const passwordless = person.password_hash === undefined || undefined;
      const open = {
        sign_ins: await artefacts.countByAccount('SignIn', id),
        grants: await artefacts.countByAccount('Access', id),
        keys: (await publicKeys.of({ kind: 'person', id })).length,
        passkeys: (await passkeys.of(id)).length,
      };
      return {
        json: { id, name, ...profile, kerberos, passwordless, disabled, demo, created_at, ...open },
        lines: [
          `id: ${id}`,
          `name: ${name}`,
          ...profileLines(profile),
          ...(kerberos ?? []).map((principal) => `kerberos: ${principal}`),
          `added: ${minute(created_at)}`,
          ...(passwordless ? ['no password'] : []),
          ...(disabled ? ['disabled: cannot sign in'] : []),
          ...(demo ? ['demo: refused in production'] : []),
          `open: ${counted(open.sign_ins, 'sign-in')}, ${counted(open.grants, 'grant')}, ${counted(open.keys, 'key')}, ${counted(open.passkeys, 'passkey')}`,
        ],
      };
    }),
};
