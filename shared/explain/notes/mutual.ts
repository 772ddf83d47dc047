import { type Notes, notesIn, REALM_NOTE } from '../note.ts';

const note = notesIn('RFC 8120');

/** Notes on the parameters of Mutual. */
export const MUTUAL_NOTES: Notes = {
  realm: REALM_NOTE,
  version: note('The version of the protocol.', '3'),
  algorithm: note('The group in which the keys are exchanged, and the hash.', '3.2'),
  validation: note('The proofs are bound to the certificate that the client sees.', '7'),
  'auth-scope': note('The host for which the password is.', '5'),
  reason: note('The server begins, or says why it begins again.', '4.1'),
  user: note('The name.', '4.2'),
  kc1: note('The client’s part of the exchange: a point of the curve.', '4.2'),
  sid: note('Names this exchange, and then the session.', '4.3'),
  ks1: note('The server’s part, into which its verifier of the password went.', '4.3'),
  'nc-max': note('The highest nc of a session.', '4.3'),
  'nc-window': note('By how much nc may be out of order.', '4.3'),
  time: note('The seconds for which the session is good.', '4.3'),
  path: note('The URLs for which the session is good.', '4.3'),
  nc: note('How often the session was used. The server takes each number once.', '4.4'),
  vkc: note('The client’s proof: a hash of the key, of nc, and of the certificate.', '4.4'),
  vks: note('The server’s proof: the same with another number before it.', '4.5'),
};
