/** The text has no form that is explained. Its message says why, and is fit for the one who wrote it. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
