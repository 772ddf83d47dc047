import type { Note, Notes } from '../note.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the forms to the token and the revocation endpoint, and on the members of their answers. */
export const FLOW_NOTES: Notes = {
  grant_type: note(
    'The kind of grant for which the client wants a token: here only its own credentials.',
    'RFC 6749 section 4.4.2',
  ),
  scope: note(
    'The scopes that the client asks for; in an answer, the scopes that the client gets.',
    'RFC 6749 section 3.3',
  ),
  resource: note(
    'The resource that is to accept the token. It becomes the audience (aud), so that no other resource accepts the token.',
    'RFC 8707 section 2',
  ),
  client_assertion_type: note('The credentials of the client are a JWT.', 'RFC 7523 section 2.2'),
  client_assertion: note(
    'A JWT with which the client authenticates. It names the client (iss and sub), the authorization server (aud) and the time at which it expires (exp). The client signs it with its private key. The server accepts each jti once, so an attacker cannot use a recorded assertion again.',
    'RFC 7523 section 3',
  ),
  token: note('The token that the client revokes.', 'RFC 7009 section 2.1'),
  token_type_hint: note(
    'The kind of the token, so that the server finds it sooner.',
    'RFC 7009 section 2.1',
  ),
  access_token: note(
    'The access token. It names the resource (aud), the client (sub) and the time at which it expires (exp). The resource server checks it by itself, and learns of each revocation.',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
  token_type: note('The scheme with which the client sends the token.', 'RFC 6749 section 7.1'),
  expires_in: note('The seconds until the token expires.', 'RFC 6749 section 5.1'),
  error: note('The reason in one word, for the client.', 'RFC 6749 section 5.2'),
  error_description: note('The reason, in words for developers.', 'RFC 6749 section 5.2'),
};
