import { type Notes, notesIn } from '../note.ts';

const note = notesIn('RFC 9577');

/** Notes on the parameters of PrivateToken. */
export const PRIVATE_TOKEN_NOTES: Notes = {
  challenge: note(
    'The token that the site wants: its type (2 is a blind RSA signature) and its issuer. The challenge also names the context (empty: any) and the sites for which the token is valid.',
    '2.1.1',
  ),
  'token-key': note('The key of the issuer with which a token is verified.', '2.1.2'),
  'max-age': note('The seconds for which the challenge is valid.', '2.1.2'),
  token: note(
    'A random nonce, the hash of the challenge, the hash of the key, and the issuer’s signature over them (authenticator). The issuer has seen neither the nonce nor the challenge: both were blinded when it signed.',
    '2.2',
  ),
};
