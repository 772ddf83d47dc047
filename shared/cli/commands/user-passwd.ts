import { setPassword } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { keysLeft } from '../lines/keys-left.ts';
import { PASSWORD_OPTION, readPassword } from '../arguments/secret.ts';
import { withPeople } from '../stores/with-people.ts';

export const userPasswd: Command = {
  name: 'user passwd',
  store: 'opens',
  summary: 'give a person a new password; their sessions, grants and tokens end at once',
  operands: ['NAME'],
  options: PASSWORD_OPTION,
  run: async (input, shell) => {
    const [name = ''] = input.operands;
    const { password, made } = await readPassword(input, shell);
    const {
      id,
      name: known,
      left,
    } = await withPeople(shell, async (store) => {
      const person = await setPassword(store, name, password);
      return { ...person, left: await keysLeft(store.stores, person) };
    });
    return {
      json: { id, name: known, ...made },
      lines: [
        `${known} has a new password. All that the old one opened has ended.`,
        ...left,
        ...(made ? [`password: ${made.password}`] : []),
      ],
    };
  },
};
