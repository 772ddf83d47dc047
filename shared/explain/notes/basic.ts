import { type Notes, REALM_NOTE } from '../note.ts';

/** Notes on the parameters of Basic's challenge, and on its credentials. */
export const BASIC_NOTES: Notes = {
  realm: REALM_NOTE,
  charset: {
    text: 'The client writes name and password in this encoding.',
    section: 'RFC 7617 section 2.1',
  },
  token68: {
    text: 'The name, a colon and the password in base64. Base64 is not encryption: anybody can decode it.',
    section: 'RFC 7617 section 2',
  },
};
