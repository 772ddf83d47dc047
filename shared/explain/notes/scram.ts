import { type Note, type Notes, REALM_NOTE } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of SCRAM. */
export const SCRAM_NOTES: Notes = {
  realm: REALM_NOTE,
  sid: note('Names this exchange: the messages belong together.', 'RFC 7804 section 5'),
  data: note(
    'A message of SCRAM in base64. n is the name, r the nonce (the client begins it, the server adds its part), s the salt, i the iterations of PBKDF2, c the channel binding, p the proof of the client, v that of the server. “n,,” at the beginning says that there is no channel binding; biws is the same in base64.',
    'RFC 5802 section 5.1',
  ),
  sr: note(
    'A nonce of the server for reauthentication. A client that has signed in before, and so knows its salt, can prove the password with it in one request.',
    'RFC 7804 section 5.1',
  ),
  ttl: note('The seconds for which sr is good.', 'RFC 7804 section 5.1'),
  stale: note('Only sr was too old.', 'RFC 7804 section 5.1'),
};
