import { type Html, html } from '#shared/pages/html.ts';
import type { AdminEvents, AdminRow, AdminSection, AdminTable } from '../frame/admin-view.ts';
import type { View } from '../frame/view.ts';
import { memberWord } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import { adminValue } from './admin-values.ts';
import { facts } from './facts.ts';
import { timeOf } from './times.ts';

/** A page of a list; the last column has what can be done with a row. */
export function adminTable(view: View, { columns, rows, next, empty }: AdminTable): Html {
  const texts = textsOf(view.language).admin;
  if (rows.length === 0) return html`<p class="empty">${empty ?? texts.nothing}</p>`;
  const hasLinks = rows.some(({ links = [] }) => links.length > 0);
  const head = columns.map(
    (name) => html`<th scope="col">${memberWord(view.language, name) ?? name}</th>`,
  );
  return html`<div class="sheet records">
      <table>
        <thead>
          <tr>
            ${head}${hasLinks && html`<th scope="col">${texts.actions}</th>`}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => rowOf(view, columns, row, hasLinks))}
        </tbody>
      </table>
    </div>
    ${nextPage(view, next)}`;
}

const nextPage = ({ language }: View, next: string | undefined): Html | false =>
  next !== undefined &&
  html`<p><a class="button slim" href="${next}">${textsOf(language).admin.next}</a></p>`;

/** Events, each a line that opens without script. */
export function adminEvents(view: View, { events, next }: AdminEvents): Html {
  if (events.length === 0) {
    return html`<p class="empty">${textsOf(view.language).admin.nothing}</p>`;
  }
  const lines = events.map(
    ({ at, title, about, details }) =>
      html`<details>
        <summary>
          <span class="muted">${timeOf(at, view, 'short')}</span>
          <span><strong>${title}</strong>${about !== undefined && html` ${about}`}</span>
        </summary>
        ${facts(
          details.map(([label, value]) => [
            label,
            typeof value === 'object' ? html`<a href="${value.href}">${value.text}</a>` : value,
          ]),
        )}
      </details> `,
  );
  return html`<div class="sheet events">${lines}</div>
    ${nextPage(view, next)}`;
}

/** A table or events under a heading of their own. */
export const adminSection = (view: View, section: AdminSection): Html =>
  html`<section aria-labelledby="${section.id}">
    <h2 id="${section.id}">${section.title}</h2>
    ${'events' in section ? adminEvents(view, section) : adminTable(view, section)}
    ${
      section.more &&
      html`<p><a class="button slim" href="${section.more.href}">${section.more.text}</a></p>`
    }
  </section>`;

/** The first member names the row, and leads to its page. */
function rowOf(
  view: View,
  columns: readonly string[],
  { item, href, cells = {}, links = [] }: AdminRow,
  hasLinks: boolean,
): Html {
  const shown = columns.map((name, index) => {
    const own = cells[name];
    const value = own?.text ?? cellOf(view, name, memberOf(item, name));
    const to = own?.href ?? (index === 0 ? href : undefined);
    // Narrow screens show the name of the column beside each cell.
    return html`<td data-name="${memberWord(view.language, name) ?? name}">
      ${to === undefined ? value : html`<a href="${to}">${value}</a>`}
    </td> `;
  });
  return html`<tr>
    ${shown}
    ${
      hasLinks &&
      html`<td>
        ${links.map(({ href: to, text }) => html`<a class="button slim" href="${to}">${text}</a> `)}
      </td>`
    }
  </tr> `;
}

/** A cell that has nothing to say has a dash. */
const cellOf = (view: View, name: string, value: unknown): Html | string =>
  value === undefined || value === '' ? '–' : adminValue(view, name, value);

const memberOf = (item: unknown, name: string): unknown =>
  typeof item === 'object' && item !== null && Object.hasOwn(item, name)
    ? (item as Readonly<Record<string, unknown>>)[name]
    : undefined;
