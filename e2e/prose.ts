/** The sentences that a reader of a Markdown document reads: no code, no quotation, no target of a link. */

/** Stands for a name: a code span, a quotation, a label of a page or an address. It counts as one word. */
export const NAME = '¤';

/** Patterns that are blanked, so that each sentence keeps its line, or become a name. */
const UNREAD: readonly (readonly [RegExp, string])[] = [
  [/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2 *$/gm, ' '],
  [/<!--[\s\S]*?-->/g, ' '],
  [/(`+)([^`\n](?:(?!\n\n)[\s\S])*?)(?<!`)\1(?!`)/g, NAME],
  [/(?<=\])\([^()\s]*\)/g, ' '],
  [/<[^<>\s]+>|https?:\/\/[^\s)]+/g, NAME],
  [/"[^"\n]*"/g, NAME],
  [/\*\*/g, ' '],
  [/(?<![*\w])\*[^*\n]+\*/g, NAME],
  // A reference to a standard is not read along.
  [/\((?:[^()]*\b(?:RFC|[Ss]ection|[Ss]pecification|draft)\b[^()]*)\)/g, ' '],
];

/** A full stop ends a sentence if another begins after it; in a list of links a middle dot does. */
const END = /(?<=[.?!])\s+(?=[[(]*[\p{Lu}\p{N}¤])| · /u;
const LIST = /^\s*(?:[-*]|\d+\.) /;

export interface Sentence {
  readonly line: number;
  readonly text: string;
  /** In a table or a heading labels may stand without a verb. */
  readonly label: boolean;
}

interface Block {
  readonly line: number;
  readonly label: boolean;
  text: string;
}

const blank = (text: string) =>
  UNREAD.reduce(
    (all, [pattern, sign]) => all.replaceAll(pattern, (found) => found.replaceAll(/[^\n]/g, sign)),
    text,
  );

/** Cells, headings, items of lists and paragraphs, each on one line. */
function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, text] of blank(markdown).split('\n').entries()) {
    const line = index + 1;
    if (/^\s*\|/.test(text)) {
      const cells = text.split(/(?<!\\)\|/).slice(1);
      blocks.push(...cells.map((cell) => ({ line, label: true, text: cell })));
      open = undefined;
    } else if (text.trim() === '' || text.startsWith('#')) {
      if (text.startsWith('#')) blocks.push({ line, label: true, text });
      open = undefined;
    } else if (open === undefined || LIST.test(text)) {
      open = { line, label: false, text };
      blocks.push(open);
    } else {
      open.text += ` ${text}`;
    }
  }
  return blocks;
}

export const sentencesOf = (markdown: string): readonly Sentence[] =>
  blocksOf(markdown).flatMap(({ line, label, text }) =>
    text
      .replace(LIST, '')
      .replace(/^#+ /, '')
      .split(END)
      .flatMap((part) => (label ? part.split('; ') : [part]))
      .map((part) => part.replaceAll(/\s+/g, ' ').trim())
      .filter((part) => part !== '')
      .map((part) => ({ line, label, text: part })),
  );

/** How many words a sentence has; several names in a row, such as of settings, are one. */
export function wordsOf(sentence: string): number {
  const names = sentence.replaceAll(/¤+(?:(?:,| and| or|, and|, or) ¤+)+/g, NAME);
  return names.match(/[\p{L}\p{N}¤][^\s]*/gu)?.length ?? 0;
}
