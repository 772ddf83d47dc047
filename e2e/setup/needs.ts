import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PARTS } from './parts.ts';

const root = new URL('../../', import.meta.url);

/** Matches any quoted path of a module: imports, and the modules that a test starts as processes. */
const MODULE = /'((?:\.{1,2}|#shared)\/[^']+\.ts)'/g;

/** Matches the line by which a module declares the programs that it starts, such as "@needs curl wget". */
const NEEDS = /^\/\*\* @needs (.+) \*\/$/gm;

/** The bundle of our servers and the command line. */
export const OURS = 'countersign';

/** Older Node versions that the package for APIs supports. */
export const OLDER_NODES = 'older-nodes';

/** All names that a module may declare. */
const KNOWN: ReadonlySet<string> = new Set([
  OURS,
  OLDER_NODES,
  ...PARTS.map(({ program }) => program),
]);

interface Module {
  /** The URLs of the imported modules. */
  readonly modules: readonly string[];
  readonly needs: readonly string[];
}

const read = new Map<string, Module>();

/** A missing file has no content, because a quoted path may be an example. */
function moduleAt(url: string): Module {
  const known = read.get(url);
  if (known) return known;
  const file = new URL(url);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const modules = [...text.matchAll(MODULE)].map(([, path = '']) => {
    const base = path.startsWith('#') ? root : url;
    return new URL(path.replace('#', './'), base).href;
  });
  const needs = [...text.matchAll(NEEDS)].flatMap(([, names = '']) => names.split(' '));
  const unknown = needs.find((name) => !KNOWN.has(name));
  if (unknown !== undefined) {
    throw new Error(`${file.pathname} needs ${unknown}: add its row to e2e/setup/parts.ts`);
  }
  const module = { modules, needs };
  read.set(url, module);
  return module;
}

/** The programs that the suites, or the modules they import, declare. */
export function needsOf(suites: readonly string[]): ReadonlySet<string> {
  const reached = new Set(suites.map((suite) => new URL(suite, root).href));
  // The loop also visits modules that it adds.
  for (const url of reached) {
    for (const module of moduleAt(url).modules) reached.add(module);
  }
  return new Set([...reached].flatMap((url) => moduleAt(url).needs));
}

/** Throws an Error with the missing declaration, if a suite has started an undeclared program. */
export function declared(suite: string, started: readonly string[]): void {
  const needs = needsOf([suite]);
  const missing = new Set(
    started.map((file) => basename(file)).filter((name) => KNOWN.has(name) && !needs.has(name)),
  );
  if (missing.size === 0) return;
  const line = `/** @needs ${[...missing].join(' ')} */`;
  throw new Error(`${suite} has to declare what it starts: write "${line}" at its top`);
}
