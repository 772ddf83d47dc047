import { removeUser } from '#shared/operations/people/user-remove.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userRemove = commandOf(removeUser, {
  details: [
    'The command removes sign-ins, grants and tokens, the password and its verifiers, keys, and consents. These stay:',
    'lines of the log, which name the person, until its rotation; documents of theirs in shared trees; their id, so that',
    'their tokens stay refused; and a hash of the name, so that no other person gets the name with its rights',
    '(`user add --reuse-name`). Their stored queries end within ten minutes.',
  ],
  lines: ({ id, name, trees, granted_at = [] }) => [
    `Removed ${name} (${id}).`,
    OWN_SESSIONS,
    ...(trees === undefined ? [] : [`Removed ${trees} trees of their own.`]),
    ...granted_at.map((url) => `${url} still grants scopes to ${name} (grants.people).`),
  ],
});
