import type { Note, Notes } from '../note.ts';
import { FLOW_NOTES } from './flow.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the members of requests and answers of the authorization code flow, forms and queries alike. */
export const CODE_FLOW_NOTES: Notes = {
  ...FLOW_NOTES,
  response_type: note('The client wants a code.', 'RFC 6749 section 4.1.1'),
  redirect_uri: note(
    'The URL to which the browser brings the code. It is registered, so that an attacker cannot have the code sent to another URL.',
    'RFC 6749 section 3.1.2',
  ),
  state: note(
    'A random value that the client has made for this browser. The client refuses an answer with another state.',
    'RFC 6749 section 10.12',
  ),
  code_challenge: note(
    'The SHA-256 hash of the code_verifier, a secret that the client has made for this request. The secret cannot be computed from its hash.',
    'RFC 7636 section 4.2',
  ),
  code_challenge_method: note(
    'How the challenge was made from the secret: S256 is SHA-256.',
    'RFC 7636 section 4.3',
  ),
  request_uri: note(
    'A name for the request that the client has pushed. It is valid once, for a minute.',
    'RFC 9126 section 2.2',
  ),
  expires_in: note(
    'The seconds until the request_uri expires; in the answer with the token, until the token expires.',
    'RFC 9126 section 2.2, RFC 6749 section 5.1',
  ),
  client_id: note('The client that sends the request.', 'RFC 6749 section 2.2'),
  code: note(
    'The authorization code. It is valid once, within a minute, and only for this client. The client has to send the redirect_uri and the code_verifier of the same request.',
    'RFC 6749 section 4.1.2',
  ),
  iss: note(
    'The authorization server that answers. The client checks this value, so that it never sends the code of one server to another server.',
    'RFC 9207 section 2',
  ),
  grant_type: note(
    'The kind of grant for which the client wants a token: a code.',
    'RFC 6749 section 4.1.3',
  ),
  code_verifier: note(
    'The secret whose hash is the code_challenge. The client sends it now for the first time, and not through the browser.',
    'RFC 7636 section 4.5',
  ),
  access_token: note(
    'The access token. It names the resource (aud), the person (sub), the client (client_id) and the time at which it expires (exp).',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
};
