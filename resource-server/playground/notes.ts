import type { Note } from './exchange.ts';

const note = (text: string, section: string): Note => ({ text, section });

/** Notes by name of the field, in lower case. */
const FIELDS: Readonly<Record<string, Note>> = {
  host: note('The host and port that the client asks.', 'RFC 9110 section 7.2'),
  accept: note('The media types that the client reads: any.', 'RFC 9110 section 12.5.1'),
  connection: note('The connection ends after this answer.', 'RFC 9112 section 9.6'),
  'content-length': note('The bytes of the content.', 'RFC 9110 section 8.6'),
  'content-type': note('The media type of the content.', 'RFC 9110 section 8.3'),
  date: note('When the answer was made.', 'RFC 9110 section 6.6.1'),
  authorization: note(
    'The credentials of the client: a scheme, and what this scheme sends.',
    'RFC 9110 section 11.6.2',
  ),
  'www-authenticate': note(
    'The challenge: the scheme that the server takes, and the realm in which its credentials are good.',
    'RFC 9110 section 11.6.1',
  ),
  'authentication-info': note(
    'What the server tells a client that it has let in.',
    'RFC 9110 section 11.6.3',
  ),
  'cache-control': note('Which caches may keep the answer: none.', 'RFC 9111 section 5.2'),
  vary: note('The request fields on which the answer depends.', 'RFC 9110 section 12.5.5'),
  'x-request-id': note(
    'Names this answer. The server’s operator finds its log line by it.',
    'no standard',
  ),
  'x-content-type-options': note(
    'A browser does not guess another media type.',
    'Fetch section 3.6',
  ),
  'strict-transport-security': note(
    'From now on the client uses TLS at this host.',
    'RFC 6797 section 6.1',
  ),
  'content-security-policy': note('A browser loads nothing for this answer.', 'CSP section 3.1'),
  dpop: note(
    'A proof for this request alone: its method, its address, the hash of the token and a time, signed with the key of the client.',
    'RFC 9449 section 4.2',
  ),
  'dpop-nonce': note(
    'A value that the next proof contains, so that nobody makes proofs in advance.',
    'RFC 9449 section 8',
  ),
  allow: note('The methods of this address.', 'RFC 9110 section 10.2.1'),
  'retry-after': note('When to try again, in seconds.', 'RFC 9110 section 10.2.3'),
};

/** Returns the note on a field. Undefined: there is none. */
export const noteOn = (name: string): Note | undefined => FIELDS[name.toLowerCase()];
