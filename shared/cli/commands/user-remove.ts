import { removeUser } from '#shared/operations/people/user-remove.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userRemove = commandOf(removeUser, {
  details: [
    'Gone are sign-ins, grants and tokens, the password and all that was derived from it, keys, and what applications',
    'were told. What stays: lines of the log, which name them, until it is rotated; what they wrote in trees that all',
    'share; their id, by which tokens of theirs stay refused; and a hash of the name, so that nobody gets it who',
    'would get what is granted to it (`user add --reuse-name`). Queries that they kept end within ten minutes.',
  ],
  lines: ({ id, name, trees, granted_at = [] }) => [
    `Removed ${name} (${id}).`,
    OWN_SESSIONS,
    ...(trees === undefined ? [] : [`Removed ${trees} trees of their own.`]),
    ...granted_at.map((url) => `${url} still grants scopes to ${name} (grants.people).`),
  ],
});
