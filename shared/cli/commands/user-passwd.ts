import { renewPassword } from '#shared/operations/people/user-passwd.ts';
import { PASSWORD_SOURCE } from '../arguments/secret.ts';
import { keysLeftLines } from '../lines/keys-left.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userPasswd = commandOf(renewPassword, {
  source: PASSWORD_SOURCE,
  lines: ({ password, ...person }) => [
    `${person.name} has a new password. All that the old one opened here has ended.`,
    OWN_SESSIONS,
    ...keysLeftLines(person),
    ...(password === undefined ? [] : [`password: ${password}`]),
  ],
});
