import { type Notes, notesIn } from '../note.ts';

const note = notesIn('RFC 7486');

/** Notes on the parameters of HOBA. */
export const HOBA_NOTES: Notes = {
  challenge: note('A random value of the server. The client signs it.', '3'),
  'max-age': note('The seconds for which the challenge is valid.', '3'),
  result: note(
    'The id of the key, the challenge, a nonce of the client and the signature, with dots between them. The signature covers the nonce, the algorithm, the origin with its port, the realm, the id and the challenge, each with its length in front.',
    '2',
  ),
};
