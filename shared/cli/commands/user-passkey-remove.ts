import { removePasskeyOfUser } from '#shared/operations/people/user-passkey-remove.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userPasskeyRemove = commandOf(removePasskeyOfUser, {
  details: [
    '`user passkey list NAME` lists the ids. A passkey is the last way in if the person has no other passkey, no password',
    'and no key. Their device still offers the passkey until they delete it there, but it no longer works.',
  ],
  lines: ({ id, person }) => [
    `Removed the passkey ${id} of ${person}. All that it opened has ended.`,
  ],
});
