import { inviteUser } from '#shared/operations/people/user-invite.ts';
import { linkLines } from '../lines/link-lines.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userInvite = commandOf(inviteUser, {
  details: [
    'The link works once, for 15 minutes. Its holder sets the password, so send it only to that person.',
    'A link by mail verifies its address. Without NAME the person chooses the name, with a link for one --email;',
    'people.registration must be invited or open.',
    'If the link expired, the same command prints a new link, as long as the person has no way to sign in.',
  ],
  lines: linkLines,
});
