import { type Notes, notesIn, REALM_NOTE } from '../note.ts';

const note = notesIn('RFC 7616');

/** Notes on the parameters of Digest. */
export const DIGEST_NOTES: Notes = {
  realm: REALM_NOTE,
  domain: note('The URLs at which the credentials are good, too.', '3.3'),
  nonce: note(
    'A value of the server. It is hashed into every response, so a response that was heard is of no use later.',
    '3.3',
  ),
  nextnonce: note('The nonce that the client uses from now on.', '3.5'),
  opaque: note('The client sends it back unchanged.', '3.3'),
  stale: note('Only the nonce was wrong: the client tries again without asking anybody.', '3.3'),
  algorithm: note('The hash by which the response is computed.', '3.3'),
  qop: note('`auth` protects method and target, `auth-int` the content as well.', '3.3'),
  charset: note('The encoding of name and password.', '3.3'),
  username: note('The name.', '3.4'),
  uri: note('The target of the request, again: the response protects it.', '3.4'),
  nc: note(
    'Counts the requests with this nonce, in hexadecimal. The server takes each number once.',
    '3.4',
  ),
  cnonce: note('A random value of the client. So no server can choose all that is hashed.', '3.4'),
  response: note(
    'The proof: a hash of the hash of name, realm and password, of the nonce, nc, cnonce and qop, and of the method and uri; with auth-int also of the content. The password itself is not sent.',
    '3.4.1',
  ),
  rspauth: note(
    'The proof of the server: the same hash without the method. It shows that the server knows the password, or the hash of name, realm and password.',
    '3.5',
  ),
};
