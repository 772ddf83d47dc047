import { addPerson } from '#shared/people/people.ts';
import type { Command } from '../command.ts';
import { PASSWORD_OPTION, readPassword } from '../secret.ts';
import { withPeople } from '../with-people.ts';

export const userAdd: Command = {
  name: 'user add',
  summary: 'let a person sign in',
  operands: ['NAME'],
  options: PASSWORD_OPTION,
  details: [
    'NAME: 1 to 64 letters, digits and . _ @ + -, in any case. A password is 8 to 1024 bytes.',
  ],
  run: async (input, shell) => {
    const [name = ''] = input.operands;
    const { password, made } = await readPassword(input, shell);
    const added = await withPeople(shell, (store) => addPerson(store, { name, password }));
    const person = { id: added.id, name: added.name, ...made };
    return {
      json: person,
      lines: Object.entries(person).map(([member, value]) => `${member}: ${value}`),
    };
  },
};
