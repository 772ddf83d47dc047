import { removeKeyOfUser } from '#shared/operations/people/user-key-remove.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userKeyRemove = commandOf(removeKeyOfUser, {
  lines: ({ fingerprint, person }) => [`Removed the key ${fingerprint} of ${person}.`],
});
