import { type Note, type Notes, REALM_NOTE } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of SCRAM. */
export const SCRAM_NOTES: Notes = {
  realm: REALM_NOTE,
  sid: note('Names this exchange: the messages belong together.', 'RFC 7804 section 5'),
  data: note(
    'A message of SCRAM in base64. n is the name, r the nonce, s the salt, i the iterations of PBKDF2, c the channel binding (biws: none), p the proof of the client, v that of the server. p is made of a key of the password, the salt and all messages so far.',
    'RFC 5802 section 5.1',
  ),
  sr: note(
    'A nonce of the server for later (server nonce for reauthentication). With it a client that knows its salt proves the password in its first request.',
    'RFC 7804 section 5.1',
  ),
  ttl: note('The seconds for which sr is good.', 'RFC 7804 section 5.1'),
  stale: note('Only sr was too old.', 'RFC 7804 section 5.1'),
};
