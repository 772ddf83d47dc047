import { removeUser } from '#shared/operations/people/user-remove.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userRemove = commandOf(removeUser, {
  details: [
    'The command removes sign-ins, grants and tokens, the password and its verifiers, keys, and consents. Lines of',
    'the log name the person until its rotation. Documents of theirs stay in shared trees. Their id stays, so that their',
    'tokens are refused. A hash of the name stays, so that no other person gets the name with its rights',
    '(`user add --reuse-name`). Their stored queries end within ten minutes.',
  ],
  lines: ({ id, name, trees, granted_at = [] }) => [
    `Removed ${name} (${id}).`,
    OWN_SESSIONS,
    ...(trees === undefined ? [] : [`Removed ${trees} trees of their own.`]),
    ...granted_at.map((url) => `${url} still grants scopes to ${name} (grants.people).`),
  ],
});
