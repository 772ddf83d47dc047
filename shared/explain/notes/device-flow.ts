import type { Note, Notes } from '../note.ts';
import { FLOW_NOTES } from './flow.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the members of requests and answers of the device flow. */
export const DEVICE_FLOW_NOTES: Notes = {
  ...FLOW_NOTES,
  device_code: note(
    'A long secret with which the device asks for its token. It stays on the device.',
    'RFC 8628 section 3.2',
  ),
  user_code: note(
    'A short code. The device shows it, and the person types it on another device.',
    'RFC 8628 section 6.1',
  ),
  verification_uri: note('The page on which the person types the code.', 'RFC 8628 section 3.2'),
  verification_uri_complete: note(
    'The same page with the code filled in, for a QR code.',
    'RFC 8628 section 3.3.1',
  ),
  interval: note(
    'The seconds that the device waits before it asks again. If it asks sooner, the answer is slow_down.',
    'RFC 8628 section 3.5',
  ),
  expires_in: note(
    'The seconds until both codes expire; in the answer with the token, until the token expires.',
    'RFC 8628 section 3.2, RFC 6749 section 5.1',
  ),
  grant_type: note(
    'The kind of grant for which the device wants a token: a device code.',
    'RFC 8628 section 3.4',
  ),
  decision: note('What the person decides. Real people press a button instead.', 'no standard'),
  error: note(
    'The reason in one word. After authorization_pending the device asks again, after slow_down it asks less often, after access_denied it gives up.',
    'RFC 8628 section 3.5',
  ),
  access_token: note(
    'The access token. It names the resource (aud), the person (sub), the client (client_id) and the time at which it expires (exp).',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
};
