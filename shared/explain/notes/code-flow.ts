import type { Note, Notes } from '../note.ts';
import { FLOW_NOTES } from './flow.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes on the members of requests and answers of the authorization code flow, forms and queries alike. */
export const CODE_FLOW_NOTES: Notes = {
  ...FLOW_NOTES,
  response_type: note('The client wants a code.', 'RFC 6749 section 4.1.1'),
  redirect_uri: note(
    'Where the browser brings the code. It is registered, so that nobody has codes sent elsewhere.',
    'RFC 6749 section 3.1.2',
  ),
  state: note(
    'A random value of this browser’s request: the client takes no answer with another one.',
    'RFC 6749 section 10.12',
  ),
  code_challenge: note(
    'The SHA-256 of a secret of the client, the code_verifier. Who has the code alone cannot make the verifier of it.',
    'RFC 7636 section 4.2',
  ),
  code_challenge_method: note(
    'How the challenge was made of the secret: by SHA-256.',
    'RFC 7636 section 4.3',
  ),
  request_uri: note(
    'Stands for the request that the client has pushed. It is good once, for a minute.',
    'RFC 9126 section 2.2',
  ),
  client_id: note('The client that has pushed the request.', 'RFC 6749 section 2.2'),
  code: note(
    'The code. It is good once, for a minute, for this client, with the redirect_uri and the code_verifier of the request.',
    'RFC 6749 section 4.1.2',
  ),
  iss: note(
    'The server that answers, so that the client never brings the code of one server to another.',
    'RFC 9207 section 2',
  ),
  grant_type: note('By what the client asks for a token: by a code.', 'RFC 6749 section 4.1.3'),
  code_verifier: note(
    'The secret whose SHA-256 was the code_challenge. It is sent now for the first time.',
    'RFC 7636 section 4.5',
  ),
  access_token: note(
    'The access token: for which resource (aud), for whom (sub), by which client (client_id), until when (exp).',
    'RFC 6749 section 5.1, RFC 9068 section 2',
  ),
};
