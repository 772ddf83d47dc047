/** Returns the line about applications where sessions may go on, since the server could not tell them of the end yet. */
export const untoldLines = (names: readonly string[] = []): readonly string[] =>
  names.length === 0
    ? []
    : [
        `The server could not tell these applications yet, and goes on trying: ${names.join(', ')}.`,
      ];
