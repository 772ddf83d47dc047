/** `npm run check`: every file, folder and heading that a document names exists. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { deadAnchors } from './dead-anchors.ts';

/**
 * Code spans and blocks. Each ends with as many backticks as it begins with (CommonMark 0.31.2 section
 * 6.1).
 */
const CODE = /(`+)([^`](?:[\s\S]*?[^`])?)\1(?!`)/g;
/** The target of a link or picture, without its fragment. */
const LINK = /\]\(([^)\s#]+)[^)]*\)/g;
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/)/i;

/** A word with a slash, made of characters of our file names, with `*` and `<name>` as wildcards. */
const PATH = /^(?=.*\/)[\w@.<>*-]+(?:\/[\w@.<>*-]+)*\/?$/;

const escaped = (text: string) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');

/** Whether a path, possibly with wildcards, exists. */
function isThere(path: string, all: ReadonlySet<string>): boolean {
  const bare = path.replace(/\/$/, '');
  if (!/[*<]/.test(bare)) return all.has(bare);
  const pattern = new RegExp(`^${escaped(bare).replaceAll(/\*|<[^>]*>/g, '[^/]*')}$`);
  return [...all].some((known) => pattern.test(known));
}

/** Every file and every folder. */
function withFolders(files: readonly string[]): Set<string> {
  const all = new Set(files);
  for (const file of files) for (let at = dirname(file); at !== '.'; at = dirname(at)) all.add(at);
  return all;
}

/**
 * `document`: its path from the top and its text; `files`: all files. A word of code is a path if it begins
 * with an existing folder, from the top or beside the document, or ends like a source file.
 */
export function deadPaths(
  [path, text]: readonly [string, string],
  files: readonly string[],
): string[] {
  const all = withFolders(files);
  const beside = (target: string) => join(dirname(path), target);
  const begins = (target: string) => all.has(target.split('/')[0] ?? '');
  const ofOurs = (word: string) =>
    PATH.test(word) &&
    (begins(word) || all.has(beside(word.split('/')[0] ?? '')) || /\.[jt]s$/.test(word));
  const words = [...text.matchAll(CODE)]
    .flatMap(([, , code = '']) => code.split(/\s+/))
    .filter(ofOurs);
  const links = [...text.matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !ABSOLUTE.test(target));
  return [
    ...words.filter((word) => !isThere(word, all) && !isThere(beside(word), all)),
    ...links.filter((target) => !isThere(beside(target), all)),
  ].map((dead) => `${path}: ${dead}`);
}

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const documents = new Map(
    files.filter((file) => file.endsWith('.md')).map((file) => [file, readFileSync(file, 'utf8')]),
  );
  const dead = [...documents].flatMap((document) => deadPaths(document, files));
  const named = [...dead, ...deadAnchors(documents)];
  if (named.length > 0) {
    process.stderr.write(`Paths and headings that are not there:\n${named.join('\n')}\n`);
    process.exitCode = 1;
  }
}
