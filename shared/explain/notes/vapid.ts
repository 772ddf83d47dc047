import type { Note, Notes } from '../note.ts';
import { OAUTH_NOTES } from './oauth.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of vapid, and on the token by which a user agent subscribes. */
export const VAPID_NOTES: Notes = {
  ...OAUTH_NOTES,
  t: note(
    'A JWT that the application server has signed. It names the push service (aud, an origin) and the time at which it expires (exp, at most a day ahead). It does not cover the message, so it is valid for all messages until it expires.',
    'RFC 8292 section 2',
  ),
  k: note(
    'The public key of the application server, by which the push service checks t: an uncompressed point of the curve P-256.',
    'RFC 8292 section 3.2',
  ),
};

/** Notes on the members of the options of a subscription, and of an event with a message. */
export const PUSH_CONTENT_NOTES: Notes = {
  vapid: note(
    'The key of the application server. The subscription accepts messages only with this key.',
    'RFC 8292 section 4.1',
  ),
  url: note('The address of the message, at which the user agent acknowledges it.', 'no standard'),
  type: note('The media type that the application server gave.', 'no standard'),
  body: note('The message, in base64url.', 'no standard'),
};
