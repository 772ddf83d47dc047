/** A word of a POSIX shell: quoted where the shell would read more into it. */
export function shellWord(value: string): string {
  return /^[\w.:/@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
