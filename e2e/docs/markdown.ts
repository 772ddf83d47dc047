/** A row of a table in Markdown (GitHub Flavored Markdown section 4.10). */
export const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

/** A table with its head. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => [
  row(...head),
  `|${'---|'.repeat(head.length)}`,
  ...rows.map((cells) => row(...cells)),
];

export const code = (text: string): string => `\`${text}\``;

/** A code block; `language` is for the syntax highlighting of forges. */
export const block = (language: string, text: string): string =>
  `\`\`\`${language}\n${text}\n\`\`\``;

/** The first line of a generated page. */
export const GENERATED = '<!-- Written by `npm run docs` from the code. -->';
