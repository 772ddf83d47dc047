import type { Answer } from '#shared/http/answer.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';
import { sizeOf } from './size.ts';

export interface ListedMember {
  readonly name: string;
  /** Bytes; absent for a collection. */
  readonly length?: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface ListingProps {
  /** The name of the tree. */
  readonly tree: string;
  /** The names of the collections from the top of the tree down to this one. */
  readonly path: readonly string[];
  readonly members: readonly ListedMember[];
  /** The reference of the next page. */
  readonly next: string | undefined;
}

/** The page that lists a collection, with the way up. */
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

/** `above`: how many levels up from the page the collection is. */
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
