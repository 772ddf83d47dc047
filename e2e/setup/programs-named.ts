import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** Any path of a module in quotes: imports, and what is started as a process of its own. */
const MODULE = /'((?:\.{1,2}|#shared)\/[^']+\.ts)'/g;

/** Matches the possible name of a program: a quoted name, or the end of a quoted path. */
const NAME = /(?<=['"`/])[\w.-]+(?=['"`])/g;

/** The servers start no program of somebody else, and what is here starts none of those that it names. */
const STARTS = /\/e2e\/(?!setup\/)|(?<!\/e2e\/setup\/[^/]*)\.(?:test|fixture)\.ts$/;

interface Module {
  /** URLs. */
  readonly modules: readonly string[];
  readonly names: ReadonlySet<string>;
}

const read = new Map<string, Module>();

/** Returns the names in a file; none if it is not there. */
function named(url: string): Module {
  const known = read.get(url);
  if (known) return known;
  const file = new URL(url);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const modules = [...text.matchAll(MODULE)].map(([, path = '']) => {
    const base = path.startsWith('#') ? root : url;
    return new URL(path.replace('#', './'), base).href;
  });
  const names = new Set(STARTS.test(url) ? text.match(NAME) : []);
  const module = { modules, names };
  read.set(url, module);
  return module;
}

/** URLs of the files and of all modules that they come to. */
function reached(files: readonly string[]): ReadonlySet<string> {
  const found = new Set(files.map((file) => new URL(file, root).href));
  // The loop visits also the files that it finds.
  for (const url of found) {
    for (const module of named(url).modules) found.add(module);
  }
  return found;
}

/** Which of the programs the test files, or the modules that these come to, name in order to start them. */
export function programsNamed(
  files: readonly string[],
  programs: readonly string[],
): ReadonlySet<string> {
  const found = [...reached(files)];
  return new Set(programs.filter((name) => found.some((url) => named(url).names.has(name))));
}

/** Whether one of the test files may start a server or the command line. */
export const startsOurs = (files: readonly string[]) =>
  reached(files).has(new URL('e2e/parts/entry.ts', root).href);

/** Whether one of the test files starts something on an older Node. */
export const startsOlderNodes = (files: readonly string[]) =>
  reached(files).has(new URL('e2e/parts/older-nodes.ts', root).href);
