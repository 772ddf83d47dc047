import type { Answer } from '#shared/http/answer.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import type { Language } from '#shared/pages/language.ts';

export interface ListedMember {
  readonly name: string;
  /** The length in bytes. Absent for a collection. */
  readonly length?: number;
  /** The modification time, in milliseconds since the epoch. */
  readonly modified: number;
}

export interface ListingProps {
  /** The name of the tree. */
  readonly tree: string;
  /** The names of the collections from the top of the tree to this one. */
  readonly path: readonly string[];
  readonly members: readonly ListedMember[];
  /** The reference of the next page. */
  readonly next: string | undefined;
}

/** The page that lists a collection, with links to the collections above. */
export function listingPage(frame: Frame, { tree, path, members, next }: ListingProps): Answer {
  const texts = textsOf(frame.language).listing;
  const names = [tree, ...path];
  const title = names.at(-1) ?? '';
  const rows = members.map((member) => row(frame, member));
  const up = html`<tr>
    <td colspan="3"><a href="../">${texts.up}</a></td>
  </tr>`;
  return document(frame, {
    title,
    content: html`<div class="wide">
      <div class="intro">
        <nav class="crumbs" aria-label="${texts.path}">
          <ol>
            ${names.map((name, index) => crumb(name, names.length - 1 - index))}
          </ol>
        </nav>
        <h1><bdi>${title}</bdi></h1>
      </div>
      <div class="sheet">
        <table>
          <thead>
            <tr>
              <th scope="col">${texts.name}</th>
              <th scope="col" class="number">${texts.size}</th>
              <th scope="col">${texts.modified}</th>
            </tr>
          </thead>
          <tbody>
            ${path.length > 0 && up} ${rows}
          </tbody>
        </table>
        ${rows.length === 0 && html`<p class="muted">${texts.empty}</p>`}
      </div>
      ${next !== undefined && html`<p><a class="button slim" href="${next}">${texts.next}</a></p>`}
    </div>`,
  });
}

/** `above`: the number of levels from the page up to the collection. */
function crumb(name: string, above: number): Html {
  return above === 0
    ? html`<li><bdi aria-current="page">${name}</bdi></li> `
    : html`<li>
        <a href="${'../'.repeat(above)}"><bdi>${name}</bdi></a>
      </li> `;
}

function row({ language }: Frame, { name, length, modified }: ListedMember): Html {
  const slash = length === undefined ? '/' : '';
  const date = new Date(modified).toISOString();
  return html`<tr>
    <td>
      <a href="./${encodeURIComponent(name)}${slash}"><bdi>${name}${slash}</bdi></a>
    </td>
    <td class="number">${length !== undefined && sizeOf(length, language)}</td>
    <td><time datetime="${date}">${date.slice(0, 16).replace('T', ' ')} UTC</time></td>
  </tr> `;
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

/**
 * Formats by language and power of 1000. They are made on first use, since making one takes as long as loading 200
 * modules.
 */
const formats = new Map<string, Intl.NumberFormat>();

/** Formats a number of bytes in the unit that makes it shortest. */
function sizeOf(bytes: number, language: Language): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const key = `${language} ${power}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: UNITS[power],
      maximumFractionDigits: 1,
    });
  formats.set(key, format);
  return format.format(bytes / 1000 ** power);
}
