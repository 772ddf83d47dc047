import { recoverUser } from '#shared/operations/people/user-recover.ts';
import { linkLines } from '../lines/link-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userRecover = commandOf(recoverUser, {
  details: [
    'The link works once, for 15 minutes, and replaces an earlier link. Its holder sets the password: make sure who asks,',
    'and send it only to that person. The old password stays valid until the link is used. Then all sign-ins, grants and',
    'tokens of the person end; passkeys and keys stay.',
  ],
  lines: linkLines,
});
