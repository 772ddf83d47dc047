import type { Note, Notes } from '../note.ts';
import { OAUTH_NOTES } from './oauth.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of vapid, and on the token by which a user agent subscribes. */
export const VAPID_NOTES: Notes = {
  ...OAUTH_NOTES,
  t: note(
    'A JWT that the application server has signed: for which push service (aud, its origin), until when (exp, at most a day). It says nothing of the message, so until then it is good for all messages.',
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
    'The key of the application server: the subscription takes messages of nobody else.',
    'RFC 8292 section 4.1',
  ),
  url: note('The address of the message, at which the user agent acknowledges it.', 'no standard'),
  type: note('The media type that the application server gave.', 'no standard'),
  body: note('The message, in base64url.', 'no standard'),
};
