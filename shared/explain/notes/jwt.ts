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
    'The purpose of the JWT, so that a server refuses a JWT that was made for another purpose.',
    'RFC 8725 section 3.11',
  ),
  alg: jws(
    'The algorithm of the signature. A server accepts only the algorithms on its list.',
    '4.1.1',
  ),
  kid: jws('Names the key of the signature among the keys of the issuer.', '4.1.4'),
  jwk: jws('The public key of the signature. In a proof it is the key of the client.', '4.1.3'),
  crit: jws('Extensions. A server that does not know all of them must refuse the token.', '4.1.11'),
};

/** Notes on claims. */
export const CLAIM_NOTES: Notes = {
  iss: jwt('The issuer, which signed the JWT.', '4.1.1'),
  sub: jwt('The person or application that the token is about.', '4.1.2'),
  aud: jwt('The servers that may accept the JWT. Every other server refuses it.', '4.1.3'),
  exp: jwt('The time at which the JWT expires.', '4.1.4'),
  nbf: jwt('The time before which servers refuse the JWT.', '4.1.5'),
  iat: jwt('The time at which the JWT was made.', '4.1.6'),
  jti: jwt(
    'The identifier of the JWT. A server accepts a proof only once, and recognizes it by its jti. An access token is valid until it expires, and can be revoked by its jti.',
    '4.1.7',
  ),
  client_id: note('The client to which the token was issued.', 'RFC 8693 section 4.3'),
  scope: note('What a client with this token may do.', 'RFC 8693 section 4.2'),
  cnf: note(
    'The key whose possession the sender has to prove: jkt is the hash of the public key, jwk the public key itself.',
    'RFC 7800 section 3',
  ),
  nonce: note(
    'A value of the server, so that an attacker cannot make a proof in advance.',
    'RFC 9449 section 8',
  ),
  acr: note(
    'The strength of the sign-in (authentication context class).',
    'RFC 9068 section 2.2.1',
  ),
  amr: note('The methods by which the person has signed in.', 'RFC 8176 section 2'),
  auth_time: note('The time at which the person signed in.', 'RFC 9068 section 2.2.1'),
  grant_id: note(
    'The grant from which the token comes. If the grant is revoked, all its tokens are revoked.',
    'no standard',
  ),
  client_gen: note(
    'The generation of the client: a number that the server raises to revoke all tokens of the client.',
    'no standard',
  ),
  sub_gen: note(
    'The generation of the person: a number that the server raises to revoke all tokens of the person.',
    'no standard',
  ),
  epoch: note(
    'Identifies the data of the store when the token was issued. If the store loses revocations, a new epoch makes all older tokens invalid.',
    'no standard',
  ),
  htm: dpop('The method of the request.', '4.2'),
  htu: dpop('The address of the request, without its query.', '4.2'),
  ath: dpop('The hash of the access token that the client sends with the proof.', '4.2'),
};
