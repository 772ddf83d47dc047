/** The sentences that a reader of a Markdown document reads: no code, no quotation, no target of a link. */

/** A placeholder for a name: a code span, a quotation, a label or an address. It is one word. */
export const NAME = '¤';

/** Patterns that are replaced by spaces, so that each sentence keeps its line, or by a name. */
const UNREAD: readonly (readonly [RegExp, string])[] = [
  [/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2 *$/gm, ' '],
  [/<!--[\s\S]*?-->/g, ' '],
  [/(`+)([^`\n](?:(?!\n\n)[\s\S])*?)(?<!`)\1(?!`)/g, NAME],
  [/(?<=\])\([^()\s]*\)/g, ' '],
  [/<[^<>\s]+>|https?:\/\/[^\s)]+/g, NAME],
  [/"[^"\n]*"/g, NAME],
  [/\*\*/g, ' '],
  [/(?<![*\w])\*[^*\n]+\*/g, NAME],
  // References to standards are skipped.
  [/\((?:[^()]*\b(?:RFC|[Ss]ection|[Ss]pecification|draft)\b[^()]*)\)/g, ' '],
];

/** A full stop ends a sentence if another sentence follows; in a list of links a middle dot does. */
const END = /(?<=[.?!])\s+(?=[[(]*[\p{Lu}\p{N}¤])| · /u;
const LIST = /^\s*(?:[-*]|\d+\.) /;

export interface Sentence {
  readonly line: number;
  readonly text: string;
  /** Labels in tables and headings may lack a verb. */
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

/** Cells, headings, list items and paragraphs, each on one line. */
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

/** The number of words in a sentence. Several names in a row, such as settings, are one word. */
export function wordsOf(sentence: string): number {
  const names = sentence.replaceAll(/¤+(?:(?:,| and| or|, and|, or) ¤+)+/g, NAME);
  return names.match(/[\p{L}\p{N}¤][^\s]*/gu)?.length ?? 0;
}
