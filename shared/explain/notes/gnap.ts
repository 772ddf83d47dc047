import { type Notes, notesIn } from '../note.ts';
import { OAUTH_NOTES } from './oauth.ts';

const note = notesIn('RFC 9635');

/** Notes on the parameters of GNAP, whose token is that of OAuth. */
export const GNAP_NOTES: Notes = {
  ...OAUTH_NOTES,
  as_uri: note('The address of the authorization server, where a client asks for access.', '9.1'),
  access: note(
    'The access that this request needs. The client passes this value on unchanged.',
    '9.1',
  ),
  referrer: note(
    'The resource that sent the client to the authorization server. The client names this resource there, in the field Referer.',
    '9.1',
  ),
};
