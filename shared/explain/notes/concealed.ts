import { type Notes, notesIn } from '../note.ts';

const note = notesIn('RFC 9729');

/** Notes on the parameters of Concealed. */
export const CONCEALED_NOTES: Notes = {
  k: note('The id of the key.', '4.1'),
  a: note(
    'The public key itself. With it the server can check the signature before it looks the key up.',
    '4.2',
  ),
  s: note('The algorithm of the signature, by its number in TLS: 2055 is Ed25519.', '4.4'),
  v: note(
    'A part of the value that TLS exports for this connection. It shows that client and server use the same connection.',
    '4.5',
  ),
  p: note(
    'The signature of the other part of the exported value, which is never sent. So the proof is valid only on this connection.',
    '4.3',
  ),
};
