import type { Note, Notes } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the forms to the token and the revocation endpoint, and on the members of their answers. */
export const FLOW_NOTES: Notes = {
  grant_type: note(
    'What the client asks for a token with: here its own credentials alone.',
    'RFC 6749 section 4.4.2',
  ),
  scope: note(
    'The scopes that the client asks for; in an answer, those that it has got.',
    'RFC 6749 section 3.3',
  ),
  resource: note(
    'The resource for which the token is. It becomes the audience (aud), so that no other resource takes the token.',
    'RFC 8707 section 2',
  ),
  client_assertion_type: note('The credentials of the client are a JWT.', 'RFC 7523 section 2.2'),
  client_assertion: note(
    'The client says who it is: its id (iss and sub), for which authorization server (aud), until when (exp), and an id that is good once (jti). The client signs it with its private key, which it keeps secret. An attacker who has heard the assertion cannot use it again.',
    'RFC 7523 section 3',
  ),
  token: note('The token that the client revokes.', 'RFC 7009 section 2.1'),
  token_type_hint: note(
    'The kind of the token, so that the server finds it sooner.',
    'RFC 7009 section 2.1',
  ),
  access_token: note(
    'The access token: for which resource (aud), for which client (sub), until when (exp). The resource server checks it without asking anybody, but learns of each revocation.',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
  token_type: note('The scheme by which the client shows it.', 'RFC 6749 section 7.1'),
  expires_in: note('The seconds until the token ends.', 'RFC 6749 section 5.1'),
  error: note('The reason in one word, for the client.', 'RFC 6749 section 5.2'),
  error_description: note('The reason for developers.', 'RFC 6749 section 5.2'),
};
