import type { Told } from '#shared/operations/operation.ts';
import { disableUser, enableUser } from '#shared/operations/people/user-disable.ts';
import type { Command } from '../arguments/command.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

const view = {
  lines: ({ name, disabled }: Told<typeof disableUser.output>) =>
    disabled ? [`${name} cannot sign in any more.`, OWN_SESSIONS] : [`${name} can sign in again.`],
};

export const userEnable = commandOf(enableUser, view);

const disable = commandOf(disableUser, view);

export const userDisable: Command = {
  ...disable,
  options: { undo: { help: 'the same as user enable' } },
  run: (input, shell) => (input.flag('undo') ? userEnable : disable).run(input, shell),
};
