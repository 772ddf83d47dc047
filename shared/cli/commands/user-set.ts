import { setUser } from '#shared/operations/people/user-set.ts';
import { profileLines } from '../lines/profile-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userSet = commandOf(setUser, {
  details: [
    'Settings without an option stay as they are. Give all addresses, or all groups, at once: they replace the earlier',
    'values. Applications see the change when they ask again. A right to administer begins and ends at once.',
  ],
  lines: ({ name, admin, ...profile }) => [
    `name: ${name}`,
    ...profileLines(profile),
    ...(admin ? ['administrator'] : []),
  ],
});
