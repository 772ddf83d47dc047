import { type Notes, notesIn, REALM_NOTE } from '../note.ts';

const note = notesIn('RFC 8120');

/** Notes on the parameters of Mutual. */
export const MUTUAL_NOTES: Notes = {
  realm: REALM_NOTE,
  version: note('The version of the protocol.', '3'),
  algorithm: note(
    'The mathematical group in which the two sides agree on a key, here the curve P-256, and the hash.',
    '3.2',
  ),
  validation: note(
    'The value to which the proofs are bound. With tls-server-end-point it is the certificate that the client sees.',
    '7',
  ),
  'auth-scope': note('The host at which the password is valid.', '5'),
  reason: note('Why the server asks: initial is for a first request.', '4.1'),
  user: note('The name of the account.', '4.2'),
  kc1: note(
    'The client’s half of the key agreement: a point of the curve. It reveals nothing about the password.',
    '4.2',
  ),
  sid: note('Names this exchange, and then the session.', '4.3'),
  ks1: note(
    'The server’s half of the key agreement. It is computed with the verifier, which the server keeps instead of the password.',
    '4.3',
  ),
  'nc-max': note('The highest nc of a session.', '4.3'),
  'nc-window': note(
    'How far nc may be out of order, since a client may send several requests at the same time.',
    '4.3',
  ),
  time: note('The seconds for which the session is valid.', '4.3'),
  path: note('The URLs for which the session is valid.', '4.3'),
  nc: note('Counts the requests of the session. The server accepts each number once.', '4.4'),
  vkc: note('The client’s proof: a hash of the key, of nc, and of the certificate.', '4.4'),
  vks: note(
    'The server’s proof: the same hash, but it begins with another number. So an attacker cannot send vkc back.',
    '4.5',
  ),
};
