import { disablePerson, enablePerson } from '#shared/people/people.ts';
import type { Command } from '../command.ts';
import { withPeople } from '../with-people.ts';

export const userDisable: Command = {
  name: 'user disable',
  store: 'opens',
  summary: 'let a person sign in no more; their sessions, grants and tokens end at once',
  operands: ['NAME'],
  options: { undo: { help: 'let them sign in again; what has ended stays ended' } },
  run: async ({ operands: [asked = ''], flag }, shell) => {
    const change = flag('undo') ? enablePerson : disablePerson;
    const { id, name, disabled = false } = await withPeople(shell, (store) => change(store, asked));
    return {
      json: { id, name, disabled },
      lines: [disabled ? `${name} cannot sign in any more.` : `${name} can sign in again.`],
    };
  },
};
