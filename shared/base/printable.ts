/**
 * Makes foreign text safe for a terminal: control, format and line-separating characters become `\uXXXX`. So a name
 * cannot move the cursor, forge a line or reverse the text. JSON keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escape);
}

/** Does the same for a text of several lines, whose line ends and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(/[^\t\n]+/g, printable);
}

function escape(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/**
 * Returns rows as aligned lines, with two spaces between the columns. `widths`: the column widths of earlier rows,
 * which the call widens if necessary.
 */
export function columns(rows: readonly (readonly string[])[], widths: number[] = []): string[] {
  const shown = rows.map((row) => row.map(printable));
  for (const row of shown) {
    for (const [column, { length }] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, length);
    }
  }
  return shown.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
