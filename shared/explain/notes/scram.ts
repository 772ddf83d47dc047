import { type Note, type Notes, REALM_NOTE } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of SCRAM. */
export const SCRAM_NOTES: Notes = {
  realm: REALM_NOTE,
  sid: note(
    'Identifies this exchange, so that the server knows which messages belong together.',
    'RFC 7804 section 5',
  ),
  data: note(
    'A SCRAM message in base64. n is the name, r the nonce: the client begins it, and the server adds its part. s is the salt, i the number of PBKDF2 iterations, c the channel binding. p is the proof of the client, v the proof of the server. “n,,” at the beginning means no channel binding; biws is “n,,” in base64.',
    'RFC 5802 section 5.1',
  ),
  sr: note(
    'A nonce of the server for reauthentication. A client that has signed in before, and so knows its salt, can prove the password with it in one request.',
    'RFC 7804 section 5.1',
  ),
  ttl: note('The seconds for which sr is valid.', 'RFC 7804 section 5.1'),
  stale: note('Only sr was too old.', 'RFC 7804 section 5.1'),
};
