/** `npm run check`: documents follow `docs/style.md`, as far as a program can check. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { TERMS } from './plain-terms.ts';
import { HEADLESS } from './plain-words.js';
import { sentencesOf, wordsOf, type Sentence } from './prose.ts';

const MOST_WORDS = 25;

/** `docs/style.md` quotes forbidden phrases. */
const QUOTES = 'docs/style.md';

/** A clause without its verb: "the log nothing", "`export` has not:", "With nginx 1.22 or later." */
const ELLIPSIS: readonly RegExp[] = [
  /[,;] (?:and |but )?(?:the|a|an|its|each) [\p{L}-]+ (?:nothing|none)(?=[.,;]|$)/u,
  /\b(?:has|have|had) not[.:;,]/,
  /^(?:For|With|Without|By|From|Also|Not|Nor)(?! example)(?:(?! (?:you|they|it|we|is|are|was|were|has|have|had|do|does|did|can|may|must|will|would|should)\b| \p{Ll}+(?:s|ed)\b)[^,:])*\.$/u,
];

/** The faults of a sentence, each as advice. */
function* faultsOf({ text, label }: Sentence): Generator<string> {
  // A question may begin with Who.
  if (!label && HEADLESS.test(text) && !/^(?:what|of)\b|\?$/i.test(text)) {
    yield 'begin with the main clause and name the actor';
  }
  if (wordsOf(text) > MOST_WORDS) yield `at most ${String(MOST_WORDS)} words in a sentence`;
  if (!label && ELLIPSIS.some((pattern) => pattern.test(text))) yield 'every clause has its verb';
  for (const [pattern, instead] of TERMS) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) yield `in place of "${found}" write ${instead}`;
  }
}

/** Returns what stops a reader of a document, each with its line. */
export const stumbles = (markdown: string): readonly string[] =>
  sentencesOf(markdown).flatMap((sentence) =>
    [...faultsOf(sentence)].map((fault) => `${String(sentence.line)}: ${fault}: ${sentence.text}`),
  );

/** The documents in which the rules apply, out of all files. */
export const placesOf = (files: readonly string[]): readonly string[] =>
  files.filter((file) => file.endsWith('.md') && file !== QUOTES);

export const ourFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .trim()
    .split('\n');

if (import.meta.main) {
  const found = placesOf(ourFiles()).flatMap((path) =>
    stumbles(readFileSync(path, 'utf8')).map((line) => `${path}:${line}`),
  );
  if (found.length > 0) {
    process.stderr.write(`Sentences that stop a reader (docs/style.md):\n${found.join('\n')}\n`);
    process.exitCode = 1;
  }
}
