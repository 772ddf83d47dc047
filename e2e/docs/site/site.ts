/** The documentation as a static site: README.md, `docs/`, and every page and file to which they link. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { framed, type Page, searchIndex } from './frame.ts';
import { navigationOf } from './navigation.ts';
import { rendered, siteUrl } from './rendered.ts';
import { STYLE } from './style.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ASSETS = { style: 'site.css', script: 'search.js' } as const;

export type Site = ReadonlyMap<string, string | Buffer>;

/** Returns the content of each file of the site by its path there. */
export function site(): Site {
  const files = new Set(tracked());
  const pages = pagesOf(files);
  const navigation = navigationOf(text('docs/README.md'));
  const paths = new Set(pages.map(({ path }) => path));
  const others = pages.flatMap(({ linked }) => linked).filter((path) => !paths.has(path));
  const beside = [...files].filter((path) => path.startsWith('docs/') && !path.endsWith('.md'));
  return new Map<string, string | Buffer>([
    ...pages.map((page): [string, string] => [
      siteUrl(page.path),
      framed(page, navigation, ASSETS),
    ]),
    ...[...others, ...beside].map((path): [string, Buffer] => [path, readFileSync(ROOT + path)]),
    [ASSETS.style, STYLE],
    [ASSETS.script, readFileSync(new URL('search.js', import.meta.url))],
    ['search.json', searchIndex(pages)],
  ]);
}

interface LinkingPage extends Page {
  readonly linked: readonly string[];
}

/** Every page, those of `docs/` first, as the search shows them. */
function pagesOf(files: ReadonlySet<string>): readonly LinkingPage[] {
  const pages = new Map<string, LinkingPage>();
  const left = ['README.md', ...[...files].filter((path) => /^docs\/.*\.md$/.test(path))];
  for (let path = left.shift(); path !== undefined; path = left.shift()) {
    if (pages.has(path)) continue;
    const { html, sections, linked } = rendered(path, text(path), files);
    pages.set(path, { path, title: sections[0]?.heading ?? path, html, sections, linked });
    left.push(...linked.filter((target) => target.endsWith('.md')));
  }
  return [...pages.values()];
}

const text = (path: string) => readFileSync(ROOT + path, 'utf8');

const tracked = () =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
