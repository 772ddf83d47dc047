import { type Notes, notesIn } from '../note.ts';
import { OAUTH_NOTES } from './oauth.ts';

const note = notesIn('RFC 9635');

/** Notes on the parameters of GNAP, whose token is that of OAuth. */
export const GNAP_NOTES: Notes = {
  ...OAUTH_NOTES,
  as_uri: note('The address of the authorization server, where a client asks for access.', '9.1'),
  access: note('The access that this request needs. The client passes it on as it is.', '9.1'),
  referrer: note(
    'The resource that sent the client there. The client sends it to the authorization server in the field Referer.',
    '9.1',
  ),
};
