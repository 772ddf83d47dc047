/** The common parts of both packages: their addresses, their documents, and the tarball. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { join as joinPath } from 'node:path/posix';
import { ROOT } from './bundle.ts';

/** The members of a manifest that lead to the public places of the product. */
const PLACES = ['repository', 'homepage', 'bugs'] as const;

/** The file that has these places, once there are some. */
export const PUBLISHED_AT = 'e2e/published-at.json';

type Places = Readonly<Partial<Record<(typeof PLACES)[number], string>>>;

/** Returns the places that are known. */
export function places(): Places {
  const text = readFileSync(join(ROOT, PUBLISHED_AT), 'utf8');
  const known = JSON.parse(text) as Readonly<Record<string, string>>;
  return Object.fromEntries(
    PLACES.flatMap((name) => (known[name] === '' ? [] : [[name, known[name]]])),
  );
}

/** Returns the names of the places that no public address is known for. */
export const unknownPlaces = (known: Places): readonly string[] =>
  PLACES.filter((name) => !/^https:\/\/\S+\.\S+$/.test(known[name] ?? ''));

/** The target of a link without its fragment, after the text of the link, which may be code. */
const LINK = /(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)/g;
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Returns a document of a package with links that work there. A link to a file that only the repository has leads to that
 * file of the version; without a public repository only the text of the link stays.
 */
export function packedDocument(
  [path, text]: readonly [string, string],
  packed: ReadonlySet<string>,
  version: string,
  { repository }: Places = places(),
): string {
  return text.replaceAll(LINK, (whole, words: string, target: string, fragment = '') => {
    const file = joinPath(dirname(path), target).replace(/\/$/, '');
    const isThere = packed.has(file) || [...packed].some((one) => one.startsWith(`${file}/`));
    if (ABSOLUTE.test(target) || isThere) return whole;
    if (repository === undefined) return words;
    return `[${words}](${repository}/blob/v${version}/${file}${fragment})`;
  });
}

/** Packs a folder that holds a package, and returns the path of the tarball. */
export function packFolder(folder: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  const pack = ['pack', '--silent', '--pack-destination', resolve(destination)];
  const printed = execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' });
  return join(resolve(destination), printed.trim().split('\n').at(-1) ?? '');
}
