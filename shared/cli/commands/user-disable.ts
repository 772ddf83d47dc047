import { disablePerson, enablePerson } from '#shared/people/people.ts';
import type { Command, Report, Shell } from '../arguments/command.ts';
import { withPeople } from '../stores/with-people.ts';

export const userDisable: Command = {
  name: 'user disable',
  store: 'opens',
  summary: 'stop a person from signing in; their sessions, grants and tokens end at once',
  operands: ['NAME'],
  options: { undo: { help: 'the same as user enable' } },
  run: ({ operands: [asked = ''], flag }, shell) =>
    changed(shell, asked, flag('undo') ? enablePerson : disablePerson),
};

export const userEnable: Command = {
  name: 'user enable',
  store: 'opens',
  summary: 'let a disabled person sign in again; ended sessions and tokens stay ended',
  operands: ['NAME'],
  run: ({ operands: [asked = ''] }, shell) => changed(shell, asked, enablePerson),
};

async function changed(shell: Shell, asked: string, change: typeof enablePerson): Promise<Report> {
  const { id, name, disabled = false } = await withPeople(shell, (store) => change(store, asked));
  return {
    json: { id, name, disabled },
    lines: [disabled ? `${name} cannot sign in any more.` : `${name} can sign in again.`],
  };
}
