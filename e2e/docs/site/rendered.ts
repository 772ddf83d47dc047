import { dirname, join, relative } from 'node:path/posix';
import { Marked, Renderer } from 'marked';
import { anchorNamer } from '../../dead-anchors.ts';

/** A part of a page: a heading and the text below it. */
export interface Section {
  readonly level: number;
  readonly anchor: string;
  /** The heading as plain text. */
  readonly heading: string;
  /** The plain text below the heading. */
  readonly text: string;
}

export interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
  /** The files to which the document links, by their paths from the top. */
  readonly linked: readonly string[];
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i;

/** The path of a page on the site, or of any other file there. */
export const siteUrl = (path: string): string =>
  path.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html');

/** The address of a file of the repository, as a page beside `from` links to it. */
export const linkTo = (from: string, path: string): string =>
  relative(dirname(siteUrl(from)), siteUrl(path));

/** Renders one Markdown file. `path`: its path from the top; `files`: every file of the repository. */
export function rendered(path: string, markdown: string, files: ReadonlySet<string>): Rendered {
  const linked: string[] = [];
  const anchorOf = anchorNamer();

  /** The file of the repository to which a link leads. A link to a folder leads to its README. */
  const fileAt = (target: string): string => {
    const there = join(dirname(path), target).replace(/\/$/, '');
    const file = [there, `${there}/README.md`].find((known) => files.has(known));
    if (file === undefined) throw new Error(`${path} links to ${target}, which does not exist`);
    return file;
  };
  const address = (href: string): string => {
    if (ABSOLUTE.test(href) || href.startsWith('#')) return href;
    const [target = '', fragment] = href.split('#');
    const file = fileAt(target);
    linked.push(file);
    return linkTo(path, file) + (fragment === undefined ? '' : `#${fragment}`);
  };

  const plain = new Renderer();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text);
        const shown = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchor}">${shown}</h${depth}>\n`;
      },
      // A block that scrolls sideways must be in reach of the keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`,
      table(token) {
        plain.parser = this.parser;
        // An empty cell is no heading of a column.
        const inner = plain.table(token).replaceAll('<th></th>', '<td></td>');
        return `<div class="table" tabindex="0" role="group" aria-label="Table">${inner}</div>\n`;
      },
      link(token) {
        plain.parser = this.parser;
        return plain.link({ ...token, href: address(token.href) });
      },
      image(token) {
        plain.parser = this.parser;
        return plain.image({ ...token, href: address(token.href) });
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escaped(text)),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, sections: sectionsOf(html), linked };
}

const HEADING = /<h([1-6]) id="([^"]*)">(.*?)<\/h\1>/gs;

function sectionsOf(html: string): readonly Section[] {
  const headings = [...html.matchAll(HEADING)];
  return headings.map(({ 0: whole, 1: level, 2: anchor = '', 3: heading = '', index }, n) => ({
    level: Number(level),
    anchor,
    heading: textOf(heading),
    text: textOf(html.slice(index + whole.length, headings[n + 1]?.index)),
  }));
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The text of HTML, without tags. Cells and blocks are apart by a space. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<\/?(?:a|code|strong|em)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => CHARACTERS[entity] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();

export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
