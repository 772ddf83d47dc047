import { inviteUser } from '#shared/operations/people/user-invite.ts';
import { linkLines } from '../lines/link-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userInvite = commandOf(inviteUser, {
  details: [
    'The link works once, for 15 minutes. Whoever has it sets the password: send it to that person alone.',
    'A link by mail verifies the address that it was sent to. Without NAME the person chooses a name themself, with a link',
    'for one --email; people.registration must be invited or open.',
    'If it expired, the same command prints a new one, as long as the person has no way to sign in.',
  ],
  lines: linkLines,
});
