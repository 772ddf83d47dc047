/** Thrown if the text has no form that can be explained. The message says why, for the person who pasted the text. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
