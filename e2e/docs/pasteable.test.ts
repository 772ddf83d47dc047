import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

/** Readers paste the commands of a page from its top: what the commands use is made on the page. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'README.md', 'docs'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path === 'README.md' || /^docs\/(?:how-to|tutorials)\/.*\.md$/.test(path));

interface Page {
  readonly text: string;
  /** The lines of the shell blocks, in order. A line that ends in a backslash includes the next. */
  readonly lines: readonly string[];
}

const read = (path: string): Page => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const shell = [...text.matchAll(/^```sh\b[^\n]*\n(.*?)^```$/gms)].map(([, block]) => block);
  return { text, lines: shell.join('').replaceAll('\\\n', ' ').trim().split('\n') };
};

/** The first start makes these: variables of `first-start.env`, files, a person and a client. */
const FIRST_START = {
  variables: ['SECRET', 'PASSWORD', 'KEY'],
  files: ['data/first-start.env', 'data/tls/certificate.pem'],
  people: ['demo'],
  clients: ['demo-machine', 'papertrail'],
} as const;

/** Set by every shell. */
const OF_SHELL = ['PWD', 'HOME'];

/** Returns the names that a line uses and that neither an earlier line nor the line itself makes. */
function missing(
  lines: readonly string[],
  usesOf: (line: string) => readonly string[],
  makesOf: (line: string) => readonly string[],
  known: readonly string[],
): readonly string[] {
  const there = new Set(known);
  return lines.flatMap((line) => {
    const absent = usesOf(line).filter((used) => !there.has(used));
    for (const made of makesOf(line)) there.add(made);
    return absent.filter((used) => !there.has(used));
  });
}

const all = (pattern: RegExp, line: string) =>
  [...line.matchAll(pattern)].flatMap((groups) => groups.slice(1).filter((group) => group));

const variables = ({ lines }: Page) =>
  missing(
    lines,
    (line) => all(/\$\{?([A-Z][A-Z0-9_]*)/g, line),
    (line) => [
      ...all(/(?:^|[\s;(])([A-Z][A-Z0-9_]*)=/g, line),
      ...all(/^read -r ([A-Z0-9_ ]+) /g, line).flatMap((names) => names.split(' ')),
      ...(line.startsWith('. data/first-start.env') ? FIRST_START.variables : []),
    ],
    OF_SHELL,
  );

/** Words that look like a file, outside of addresses. */
const FILE =
  /(?<![\w./:-])((?:~?\/)?[\w.-]+(?:\/[\w.-]+)*\.(?:json|txt|pem|jwk|env|mjs|secret|service))\b/g;

const files = ({ lines, text }: Page) =>
  missing(
    lines,
    (line) =>
      all(FILE, line.replaceAll(/https?:\/\/[^\s'"]+|(?:"\$REPOSITORY"|REPOSITORY)\/\S+/g, ''))
        .filter((file) => !existsSync(join(ROOT, file)))
        // The text says: write this to `countersign.json`, or links the file.
        .filter((file) => !text.includes(`\`${file}\``) && !text.includes(`[${file}](`)),
    (line) => all(/(?:>|--out|-keyout|-out|\btee|directory export) ([\w./-]+)/g, line),
    FIRST_START.files,
  );

const NAMED =
  /\buser (?:show|set|access|end|passwd|disable|enable|remove|recover|second-factor|passkey list|key add) ([a-z]+)|--person ([a-z]+)/g;

const people = ({ lines, text }: Page) =>
  missing(
    lines,
    (line) => all(NAMED, line).filter((name) => !text.includes(`"${name}"`)),
    (line) => all(/\buser (?:add|invite) ([a-z]+)/g, line),
    FIRST_START.people,
  );

const clients = ({ lines }: Page) =>
  missing(
    lines,
    (line) => all(/\bclient (?:show|set|secret|access|end) ([^\s$-]\S*)|--client ([^\s$]+)/g, line),
    (line) => all(/\bclient add --document (\S+)/g, line),
    FIRST_START.clients,
  );

test.each(PAGES)('the commands of %s use only what the page has made before', (path) => {
  const page = read(path);
  expect({
    variables: variables(page),
    files: files(page),
    people: people(page),
    clients: clients(page),
    placeholders: page.lines.filter((line) => line.includes('=...')),
  }).toEqual({ variables: [], files: [], people: [], clients: [], placeholders: [] });
});

test('a variable, a file, a person and a client that nothing made are found', () => {
  const page = {
    text: '',
    lines: [
      'A=1 node x.mjs > made.json',
      'echo $A $B < made.json',
      'npm run -s cli -- user set kim --key public.jwk',
      'npm run -s cli -- login --client abc',
    ],
  };
  expect(variables(page)).toEqual(['B']);
  expect(files(page)).toEqual(['x.mjs', 'public.jwk']);
  expect(people(page)).toEqual(['kim']);
  expect(clients(page)).toEqual(['abc']);
});
