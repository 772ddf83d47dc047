import type { Note, Notes } from '../note.ts';
import { FLOW_NOTES } from './flow.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the members of requests and answers of the device flow. */
export const DEVICE_FLOW_NOTES: Notes = {
  ...FLOW_NOTES,
  device_code: note(
    'By it the device asks for its token. It stays on the device.',
    'RFC 8628 section 3.2',
  ),
  user_code: note(
    'The code that the device shows, and the person types elsewhere.',
    'RFC 8628 section 6.1',
  ),
  verification_uri: note('Where the person types it.', 'RFC 8628 section 3.2'),
  verification_uri_complete: note(
    'The same with the user code, for a QR code.',
    'RFC 8628 section 3.3.1',
  ),
  interval: note(
    'The seconds between two questions of the device. Who asks faster gets slow_down.',
    'RFC 8628 section 3.5',
  ),
  expires_in: note('The seconds until it ends.', 'RFC 8628 section 3.2, RFC 6749 section 5.1'),
  grant_type: note('By what the device asks: by its device code.', 'RFC 8628 section 3.4'),
  decision: note(
    'What the person decides. A person of flesh and blood presses a button instead.',
    'no standard',
  ),
  error: note(
    'The reason in one word: authorization_pending asks the device to go on asking, slow_down to ask more rarely, access_denied to give up.',
    'RFC 8628 section 3.5',
  ),
  access_token: note(
    'The access token: for which resource (aud), for whom (sub), by which client (client_id), until when (exp).',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
};
