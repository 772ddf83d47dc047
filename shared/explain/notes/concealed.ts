import { type Notes, notesIn } from '../note.ts';

const note = notesIn('RFC 9729');

/** Notes on the parameters of Concealed. */
export const CONCEALED_NOTES: Notes = {
  k: note('The id of the key.', '4.1'),
  a: note(
    'The public key itself. The server can check the signature before it looks whether it knows the key.',
    '4.2',
  ),
  s: note('The algorithm of the signature, by its number in TLS: 2055 is Ed25519.', '4.4'),
  v: note(
    'A part of what TLS exports for this connection. It shows that both ends mean the same connection.',
    '4.5',
  ),
  p: note(
    'The signature over the other part, which is never sent. So the proof is good on this connection alone.',
    '4.3',
  ),
};
