/** A note on a field or a parameter, and the section that defines it. */
export interface Note {
  readonly text: string;
  readonly section: string;
}

/** Notes by the name of a parameter. */
export type Notes = Readonly<Record<string, Note>>;

/** Makes the notes of one document: `on('The name.', '3.4')`. */
export const notesIn =
  (standard: string) =>
  (text: string, section: string): Note => ({ text, section: `${standard} section ${section}` });

/** The note on `realm`, which every scheme has. */
export const REALM_NOTE: Note = {
  text: 'The part of the server in which the credentials are valid.',
  section: 'RFC 9110 section 11.5',
};
