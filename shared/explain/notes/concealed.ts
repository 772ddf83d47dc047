import { type Notes, notesIn } from '../note.ts';

const note = notesIn('RFC 9729');

/** Notes on the parameters of Concealed. */
export const CONCEALED_NOTES: Notes = {
  k: note('The id of the key.', '4.1'),
  a: note('The public key itself, so that a wrong one is found without a look into a list.', '4.2'),
  s: note('The algorithm of the signature, by its number in TLS: 2055 is Ed25519.', '4.4'),
  v: note('A part of the exporter’s output: the proof is for this connection.', '4.5'),
  p: note('The signature over the other part of it.', '4.3'),
};
