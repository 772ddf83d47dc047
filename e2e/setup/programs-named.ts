import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Any path of a module in quotes: imports, and what is started as a process of its own. */
const MODULE = /'((?:\.{1,2}|#shared)\/[^']+\.ts)'/g;

/** The servers start no program of somebody else, and what is here starts none of those that it names. */
const STARTS = /\/e2e\/(?!setup\/)|(?<!\/e2e\/setup\/[^/]*)\.(?:test|fixture)\.ts$/;

/** The modules that the files come to, themselves included, as URLs. */
function modules(files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = files.map((file) => new URL(file, root).href);
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    if (found.has(url) || !existsSync(new URL(url))) continue;
    found.add(url);
    for (const [, path = ''] of source(url).matchAll(MODULE)) {
      const base = path.startsWith('#') ? root : url;
      open.push(new URL(path.replace('#', './'), base).href);
    }
  }
  return found;
}

/** Which of the programs the test files, or the modules that these come to, name in order to start them. */
export function programsNamed(
  files: readonly string[],
  programs: readonly string[],
): ReadonlySet<string> {
  const texts = [...modules(files)].filter((url) => STARTS.test(url)).map(source);
  return new Set(
    programs.filter((name) => {
      const word = new RegExp(`['"\`/]${name.replace('.', '\\.')}['"\`]`);
      return texts.some((text) => word.test(text));
    }),
  );
}

function source(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8');
}
