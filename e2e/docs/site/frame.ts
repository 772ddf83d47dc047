import { escaped, linkTo, siteUrl, type Section } from './rendered.ts';
import type { NavigationSection } from './navigation.ts';

/** Nothing from elsewhere, no script in a page, and markup only from the page itself. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export interface Page {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

/** A page needs a list of its headings from this number of headings on. */
const LONG = 4;

/**
 * The whole HTML of a page. The navigation is below the text on a phone, and beside the text on a wide window.
 * `assets`: the names of the style and of the script.
 */
export function framed(
  page: Page,
  navigation: readonly NavigationSection[],
  assets: { readonly style: string; readonly script: string },
): string {
  const to = (path: string) => linkTo(page.path, path);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)}${page.path === 'README.md' ? '' : ' – Countersign'}</title>
<link rel="stylesheet" href="${to(assets.style)}">
<script defer src="${to(assets.script)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to('README.md')}">Countersign</a>
<a href="${to('docs/README.md')}">Documentation</a>
<a href="#pages">All pages</a>
<search hidden>
<label class="hidden" for="search">Search the documentation</label>
<input id="search" type="search" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<p class="hidden" role="status"></p>
<ol id="results" aria-label="Results" hidden></ol>
</search>
</header>
<div class="columns">
<main id="content" tabindex="-1">
${withContents(page)}
</main>
<nav id="pages" aria-label="Pages" tabindex="-1">
${navigation.map((section) => navigationHtml(section, page.path)).join('\n')}
</nav>
</div>
</body>
</html>
`;
}

function navigationHtml({ title, groups }: NavigationSection, current: string): string {
  const open = groups.some(({ entries }) => entries.some(({ path }) => path === current));
  const item = ({ name, path }: { readonly name: string; readonly path: string }) =>
    `<li><a href="${linkTo(current, path)}"${path === current ? ' aria-current="page"' : ''}>${escaped(name)}</a></li>`;
  const lists = groups.map(
    (group) =>
      `${group.title === undefined ? '' : `<p>${escaped(group.title)}</p>`}<ul>${group.entries.map(item).join('')}</ul>`,
  );
  return `<details${open ? ' open' : ''}><summary>${escaped(title)}</summary>${lists.join('')}</details>`;
}

/** The page's HTML; a long page lists its headings below its title. */
function withContents({ html, sections }: Page): string {
  const seconds = sections.filter(({ level }) => level === 2);
  if (seconds.length < LONG) return html;
  const items = seconds.map(
    ({ anchor, heading }) => `<li><a href="#${anchor}">${escaped(heading)}</a></li>`,
  );
  const list = `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>`;
  return html.replace('</h1>\n', (end) => end + list);
}

/** The data of the search: for each section the page's address and title, its heading, anchor and text. */
export const searchIndex = (pages: readonly Page[]): string =>
  JSON.stringify(
    pages.map(({ path, title, sections }) => ({
      url: siteUrl(path),
      title,
      sections: sections.map(({ heading, anchor, text }) => ({ heading, anchor, text })),
    })),
  );
