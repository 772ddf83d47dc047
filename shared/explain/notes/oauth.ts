import { type Note, type Notes, REALM_NOTE } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the parameters of OAuth's challenges, and on its credentials. */
export const OAUTH_NOTES: Notes = {
  realm: REALM_NOTE,
  scope: note('The scopes that the request needs.', 'RFC 6750 section 3'),
  error: note('The reason in one word, for the client.', 'RFC 6750 section 3.1'),
  error_description: note('The reason for developers.', 'RFC 6750 section 3'),
  algs: note('The algorithms of proofs that the server takes.', 'RFC 9449 section 7.1'),
  token68: note(
    'The access token: who issued it (iss), for which resource (aud), for whom (sub), until when (exp). Everybody can read it; only the issuer can sign it.',
    'RFC 9068 section 2',
  ),
};
