import { type Notes, notesIn, REALM_NOTE } from '../note.ts';

const note = notesIn('RFC 7616');

/** Notes on the parameters of Digest. */
export const DIGEST_NOTES: Notes = {
  realm: REALM_NOTE,
  domain: note('Further URLs at which the credentials are valid.', '3.3'),
  nonce: note(
    'A value that the server has chosen. Every response depends on it, so an attacker cannot use a recorded response later.',
    '3.3',
  ),
  nextnonce: note('The nonce that the client uses from now on.', '3.5'),
  opaque: note('A value that the client sends back unchanged.', '3.3'),
  stale: note('Only the nonce was wrong: the client tries again without asking the person.', '3.3'),
  algorithm: note('The hash by which the response is computed.', '3.3'),
  qop: note('`auth` protects method and target, `auth-int` the content as well.', '3.3'),
  charset: note('The encoding of name and password.', '3.3'),
  username: note('The name of the account.', '3.4'),
  uri: note('The target of the request, repeated here so that the response covers it.', '3.4'),
  nc: note(
    'Counts the requests with this nonce, in hexadecimal. The server accepts each number once.',
    '3.4',
  ),
  cnonce: note(
    'A random value of the client, so that the server cannot choose everything that is hashed.',
    '3.4',
  ),
  response: note(
    'The proof. The client hashes name, realm and password, and then hashes the result with nonce, nc, cnonce, qop, method and uri. With auth-int it also hashes the content. The password itself is not sent.',
    '3.4.1',
  ),
  rspauth: note(
    'The proof of the server: the same hash without the method. It shows that the server knows the password, or the hash of name, realm and password.',
    '3.5',
  ),
};
