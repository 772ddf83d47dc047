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
    'What the proofs are bound to: with tls-server-end-point, the certificate that the client sees.',
    '7',
  ),
  'auth-scope': note('The host at which the password is good.', '5'),
  reason: note('Why the server asks: initial is for a first request.', '4.1'),
  user: note('The name.', '4.2'),
  kc1: note(
    'The client’s half of the key agreement: a point of the curve. It says nothing of the password.',
    '4.2',
  ),
  sid: note('Names this exchange, and then the session.', '4.3'),
  ks1: note(
    'The server’s half. It is computed with the verifier, which the server keeps instead of the password.',
    '4.3',
  ),
  'nc-max': note('The highest nc of a session.', '4.3'),
  'nc-window': note('How far nc may be out of order, for requests at the same time.', '4.3'),
  time: note('The seconds for which the session is good.', '4.3'),
  path: note('The URLs for which the session is good.', '4.3'),
  nc: note('Counts the requests of the session. The server takes each number once.', '4.4'),
  vkc: note('The client’s proof: a hash of the key, of nc, and of the certificate.', '4.4'),
  vks: note(
    'The server’s proof: the same hash, but it begins with another number, so nobody can send vkc back.',
    '4.5',
  ),
};
