/** `npm run check`: every linked heading exists. */
import { dirname, join } from 'node:path/posix';

/** A link to a heading in another document or in the same document. */
const LINK = /\]\(([^)\s#]*\.md)?#([^)\s]+)\)/g;
const HEADING = /^#{1,6} +(.+?)(?: +#+)?$/gm;
const FENCED = /^(`{3,}|~{3,}).*?^\1/gms;

/**
 * The anchor of a heading, as forges make it: in lower case, without punctuation, with hyphens for spaces.
 */
function anchorOf(heading: string): string {
  const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return shown
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Returns a function that names the headings of one document in their order. A second heading of the same text
 * gets the suffix `-1`, and so on.
 */
export function anchorNamer(): (heading: string) => string {
  const anchors = new Set<string>();
  return (heading) => {
    const anchor = anchorOf(heading);
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
    return unique;
  };
}

/** Returns the anchors of a document. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replaceAll(FENCED, '').matchAll(HEADING)];
  return new Set(headings.map(([, heading = '']) => heading).map(anchorNamer()));
}

/**
 * Returns the links to missing headings. `documents`: the text of every Markdown file by its path from the
 * top.
 */
export function deadAnchors(documents: ReadonlyMap<string, string>): string[] {
  const anchors = new Map([...documents].map(([path, text]) => [path, anchorsOf(text)]));
  return [...documents].flatMap(([path, text]) =>
    [...text.replaceAll(FENCED, '').matchAll(LINK)]
      .filter(([, target, anchor = '']) => {
        const there = target === undefined ? path : join(dirname(path), target);
        return !target?.includes(':') && anchors.get(there)?.has(anchor) !== true;
      })
      .map(([, target = '', anchor]) => `${path}: ${target}#${anchor}`),
  );
}
