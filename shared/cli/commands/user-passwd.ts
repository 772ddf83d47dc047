import { setPassword } from '#shared/people/people.ts';
import type { Command } from '../command.ts';
import { PASSWORD_OPTION, readPassword } from '../secret.ts';
import { withPeople } from '../with-people.ts';

export const userPasswd: Command = {
  name: 'user passwd',
  summary: 'give a person a new password; their sessions, grants and tokens end at once',
  operands: ['NAME'],
  options: PASSWORD_OPTION,
  run: async (input, shell) => {
    const [name = ''] = input.operands;
    const { password, made } = await readPassword(input, shell);
    const { id, name: known } = await withPeople(shell, (store) =>
      setPassword(store, name, password),
    );
    return {
      json: { id, name: known, ...made },
      lines: [
        `${known} has a new password. All that the old one opened has ended.`,
        ...(made ? [`password: ${made.password}`] : []),
      ],
    };
  },
};
