import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = new URL('..', import.meta.url).pathname;

/** Functions that end a sign-in, a grant, or all of a person or client. */
const ENDS = [
  'clearClient',
  'clearEarlier',
  'discardGrant',
  'endAhead',
  'endApplication',
  'endClient',
  'endEverything',
  'endForbidden',
  'endGrant',
  'endSignIn',
  'raiseIn',
  'removeSignIns',
  'retireClient',
];
/** Verbs of the stores that end something; a name is not enough to find them. */
const VERBS = [
  ['raise', /\.raise\b/g],
  ['removeByGrant', /\.removeByGrant\b/g],
  ['revoke', /\brevoke\('grant'/g],
  ['remove Access', /\.remove\('Access'/g],
  ['remove SignIn', /\.remove\('SignIn'/g],
] as const;

/** A module of the command line with a function of the same name, which sends a request. */
const OTHER = /\/gnap\/ask\.ts$/;
const IMPORT = /^(?:import|export) (?:type )?([^;]*?) from '([^']+)';$/gm;
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/[^\n]*$/gm;

/** Returns how often each file of the servers uses a function or verb that ends something, as `FILE NAME`. */
export function endCallers(): Readonly<Record<string, number>> {
  const files = execFileSync('git', ['ls-files', 'shared', 'authz-server', 'resource-server'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /(?<!\.test|\.fixture)\.ts$/.test(file) && !file.includes('/contract/'));
  return Object.assign(
    {},
    ...files.map((file) => callersIn(file, readFileSync(join(ROOT, file), 'utf8'))),
  );
}

/** Returns the same for one source text. */
export function callersIn(file: string, source: string): Readonly<Record<string, number>> {
  const text = source.replaceAll(COMMENT, '');
  const imports = [...text.matchAll(IMPORT)].filter(([, , from = '']) => !OTHER.test(from));
  const named = imports.map(([, names = '']) => names).join(' ');
  const renamed = ENDS.find((name) => new RegExp(`\\b${name} as\\b`).test(text));
  if (renamed !== undefined) throw new Error(`${file} renames ${renamed}`);
  const code = text.replaceAll(IMPORT, '');
  const isHere = (name: string) =>
    new RegExp(`\\b${name}\\b`).test(named) || new RegExp(`\\bfunction ${name}\\b`).test(code);
  const known = ENDS.filter(isHere);
  const uses = known.map((name) => [name, new RegExp(`(?<!function )\\b${name}\\b`, 'g')] as const);
  return Object.fromEntries(
    [...uses, ...VERBS].flatMap(([name, pattern]) => {
      const count = [...code.matchAll(pattern)].length;
      return count > 0 ? [[`${file} ${name}`, count] as const] : [];
    }),
  );
}
