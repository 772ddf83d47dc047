import { type Note, type Notes, notesIn } from '../note.ts';

const jws = notesIn('RFC 7515');
const jwt = notesIn('RFC 7519');
const dpop = notesIn('RFC 9449');
const note = (text: string, section: string): Note => ({ text, section });

/** Claims that are times, in seconds since the epoch (RFC 7519 section 2, NumericDate). */
export const TIMES: ReadonlySet<string> = new Set(['iat', 'nbf', 'exp', 'auth_time']);

/** Notes on header parameters. */
export const HEADER_NOTES: Notes = {
  typ: note(
    'What the JWT is for, so that one made for another purpose does not pass.',
    'RFC 8725 section 3.11',
  ),
  alg: jws('The algorithm of the signature. A server has a list of those that it takes.', '4.1.1'),
  kid: jws('Names the key of the signature, among those of its issuer.', '4.1.4'),
  jwk: jws('The public key of the signature. In a proof it is the key of the client.', '4.1.3'),
  crit: jws('Extensions that a server must know, or refuse the token.', '4.1.11'),
};

/** Notes on claims. */
export const CLAIM_NOTES: Notes = {
  iss: jwt('The issuer: who signed it.', '4.1.1'),
  sub: jwt('The person or application that the token is about.', '4.1.2'),
  aud: jwt('The servers for which it is: all others refuse it.', '4.1.3'),
  exp: jwt('The end.', '4.1.4'),
  nbf: jwt('The beginning.', '4.1.5'),
  iat: jwt('The time at which it was made.', '4.1.6'),
  jti: jwt(
    'Its identifier. A proof is good once, and by its jti a server knows it again. An access token is good until it ends; by its jti it is revoked.',
    '4.1.7',
  ),
  client_id: note('The client to which it was issued.', 'RFC 8693 section 4.3'),
  scope: note('What a client with this token may do.', 'RFC 8693 section 4.2'),
  cnf: note(
    'The key that the sender has to prove: jkt is the hash of the public key, jwk the public key itself.',
    'RFC 7800 section 3',
  ),
  nonce: note('A value of the server, so that nobody makes one in advance.', 'RFC 9449 section 8'),
  acr: note('How well the person has signed in.', 'RFC 9068 section 2.2.1'),
  amr: note('The methods by which the person has signed in.', 'RFC 8176 section 2'),
  auth_time: note('The time at which the person signed in.', 'RFC 9068 section 2.2.1'),
  grant_id: note('The grant behind it. When this ends, so do all its tokens.', 'no standard'),
  client_gen: note(
    'The generation of the client: a number that is raised to end all its tokens.',
    'no standard',
  ),
  sub_gen: note(
    'The generation of the person: a number that is raised to end all their tokens.',
    'no standard',
  ),
  epoch: note(
    'Names the memory of the store at issue. When the store loses what was revoked, a new epoch ends all older tokens.',
    'no standard',
  ),
  htm: dpop('The method of the request.', '4.2'),
  htu: dpop('The address of the request, without its query.', '4.2'),
  ath: dpop('The hash of the access token that comes with the proof.', '4.2'),
};
