import { type Note, type Notes, REALM_NOTE } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of OAuth's challenges, and on its credentials. */
export const OAUTH_NOTES: Notes = {
  realm: REALM_NOTE,
  scope: note('The scopes that the request needs.', 'RFC 6750 section 3'),
  error: note('The reason in one word, for the client.', 'RFC 6750 section 3.1'),
  error_description: note('The reason, in words for developers.', 'RFC 6750 section 3'),
  algs: note('The algorithms of proofs that the server accepts.', 'RFC 9449 section 7.1'),
  token68: note(
    'The access token. It names the issuer (iss), the resource (aud), the person or application (sub) and the time at which it expires (exp). Anybody can read the token, but only the issuer can sign it.',
    'RFC 9068 section 2',
  ),
};
