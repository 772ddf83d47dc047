import { addPerson, newName, newPasswordText } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { PROFILE_OPTIONS, profileFrom } from '../arguments/profile-options.ts';
import { PASSWORD_OPTION, readPassword } from '../arguments/secret.ts';
import { withPeople } from '../stores/with-people.ts';

export const userAdd: Command = {
  name: 'user add',
  store: 'opens',
  summary: 'add a person who can sign in',
  operands: ['NAME'],
  options: {
    ...PASSWORD_OPTION,
    ...PROFILE_OPTIONS,
    'reuse-name': { help: 'accept the name of somebody who was removed' },
  },
  details: [
    'NAME: 1 to 64 letters, digits and . _ @ + -, in any case.',
    'A password has 8 characters or more, at most 1,024 octets, and is not one of the 10,000 commonest.',
    'The person gets the rights that a space grants to the name (`grants.people`), also if somebody else had it before.',
  ],
  run: async (input, shell) => {
    const [name = ''] = input.operands;
    const profile = profileFrom(input);
    const { password, made } = await readPassword(input, shell);
    newName(name);
    await newPasswordText(password);
    const known = Object.keys(profile).length > 0 && { profile };
    const former = input.flag('reuse-name') ? 'reused' : 'refused';
    const added = await withPeople(shell, (store) =>
      addPerson(store, { name, password, ...known }, former),
    );
    const person = { id: added.id, name: added.name, ...made };
    return {
      json: person,
      lines: Object.entries(person).map(([member, value]) => `${member}: ${value}`),
    };
  },
};
