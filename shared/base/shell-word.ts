/** Returns a word for a POSIX shell, quoted if the shell would interpret a character of it. */
export function shellWord(value: string): string {
  return /^[\w.:/@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
