import { makeAdministratorLink } from '#shared/operations/people/first-administrator.ts';
import type { Command } from '../arguments/command.ts';
import { linkLines } from '../lines/link-lines.ts';
import { withPeople } from '../stores/with-people.ts';

export const adminLink: Command = {
  name: 'admin link',
  summary: 'make a link with which the first administrator makes an account',
  store: 'opens',
  details: [
    'The link works once, for one hour, and replaces an earlier link. Its holder chooses a name, with a password or a',
    'passkey, and administers this server: send it only to that person. There is no link once an administrator can sign in:',
    'an enabled person with the right to administer, and with a password or a passkey.',
  ],
  run: (_, shell) =>
    withPeople(shell, async (house) => {
      const made = await makeAdministratorLink(house);
      return { json: made, lines: linkLines(made) };
    }),
};
