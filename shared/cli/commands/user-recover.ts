import { recoverUser } from '#shared/operations/people/user-recover.ts';
import { linkLines } from '../lines/link-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userRecover = commandOf(recoverUser, {
  details: [
    'The link works once, for 15 minutes, and takes the place of an earlier one. Whoever has it sets the password: make',
    'sure who asks, and send it to that person alone. The old password counts until the link is used. Then all sign-ins,',
    'grants and tokens of the person end; passkeys and keys stay.',
  ],
  lines: linkLines,
});
