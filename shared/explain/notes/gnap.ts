import { type Notes, notesIn } from '../note.ts';
import { OAUTH_NOTES } from './oauth.ts';

const note = notesIn('RFC 9635');

/** Notes on the parameters of GNAP, whose token is that of OAuth. */
export const GNAP_NOTES: Notes = {
  ...OAUTH_NOTES,
  as_uri: note('Where a client asks for access.', '9.1'),
  access: note('A reference to the access that the request needs.', '9.1'),
  referrer: note('The resource.', '9.1'),
};
