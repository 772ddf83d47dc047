import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminLink, AdminOperationProps, AdminTold } from '../frame/admin-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { memberWord } from '../texts/admin-words.ts';
import { textsOf } from '../texts/index.ts';
import { adminField } from './admin-fields.ts';
import { adminFacts, adminValue } from './admin-values.ts';
import { form } from './form.ts';

/** The page of an operation: what it is for, its form, and what it gave. */
export function adminOperationPage(view: View, props: AdminOperationProps): Answer {
  const { title, text, told, done, status, links } = props;
  const texts = textsOf(view.language).admin;
  const asked = done === undefined && props.fields.length > 0 && operationForm(view, props);
  const given = told && html`<section aria-label="${title}">${toldOf(view, told)}</section>`;
  return document(view, {
    title,
    ...(status !== undefined && { status }),
    content: html`<div class="wide">
      <div class="intro">
        ${crumbs(view, props)}
        <h1>${title}</h1>
        ${
          done === undefined
            ? html`<p class="muted" ${props.isEnglish && html` lang="en"`}>${text}</p>`
            : html`<p class="note good" role="status">${done}</p>`
        }
        ${problemOf(view, props.problem)}
      </div>
      ${told?.kind === 'list' ? html`${asked}${given}` : html`${given}${linkList(texts.others, links)}${asked}`}
      ${done !== undefined && html`<p><a class="button" href="${props.home}">${texts.goOn}</a></p>`}
    </div>`,
  });
}

function crumbs({ language }: View, { home, group, title }: AdminOperationProps): Html {
  const texts = textsOf(language).admin;
  return html`<nav class="crumbs" aria-label="${texts.where}">
    <ol>
      <li><a href="${home}">${texts.title}</a></li>
      <li><span>${group}</span></li>
      <li aria-current="page">${title}</li>
    </ol>
  </nav>`;
}

function problemOf({ language }: View, problem: AdminOperationProps['problem']): Html | undefined {
  if (problem === undefined) return undefined;
  const texts = textsOf(language).admin;
  return html`<p class="note bad" role="alert">
    ${
      problem.kind === 'sent'
        ? texts.sent
        : html`${texts.problem} <span lang="en">${problem.text}</span>`
    }
  </p>`;
}

/** An operation that only reads is asked for by GET, so that its address can be kept. */
function operationForm(
  view: View,
  { action, effect, fields, once, title }: AdminOperationProps,
): Html {
  const content = html`${fields.map((field) => adminField(view, field))}
    <div class="buttons">
      <button class="button primary">
        ${effect === 'reads' ? textsOf(view.language).admin.search : title}
      </button>
    </div>`;
  if (effect === 'reads') {
    return html`<form class="stack" method="get" action="${action}">${content}</form>`;
  }
  return form(view, action, { ...(once !== undefined && { once }) }, content);
}

function toldOf(view: View, told: AdminTold): Html {
  const texts = textsOf(view.language).admin;
  if (told.kind === 'one') {
    const { value } = told;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? adminFacts(view, value)
      : html`<p>${adminValue(view, '', value)}</p>`;
  }
  const { columns, rows, next } = told;
  if (rows.length === 0) return html`<p class="empty">${texts.nothing}</p>`;
  const head = columns.map(
    (name) => html`<th scope="col">${memberWord(view.language, name) ?? name}</th>`,
  );
  return html`<div class="sheet records">
      <table>
        <thead>
          <tr>
            ${head}
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => rowOf(view, columns, row))}
        </tbody>
      </table>
    </div>
    ${next !== undefined && html`<p><a class="button slim" href="${next}">${texts.next}</a></p>`}`;
}

/** The first member names the row, and leads to its page. */
function rowOf(
  view: View,
  columns: readonly string[],
  { item, href }: { readonly item: unknown; readonly href?: string },
): Html {
  const cells = columns.map((name, index) => {
    const value = adminValue(view, name, memberOf(item, name));
    return html`<td>
      ${index === 0 && href !== undefined ? html`<a href="${href}">${value}</a>` : value}
    </td> `;
  });
  return html`<tr>
    ${cells}
  </tr> `;
}

const memberOf = (item: unknown, name: string): unknown =>
  typeof item === 'object' && item !== null && Object.hasOwn(item, name)
    ? (item as Readonly<Record<string, unknown>>)[name]
    : undefined;

const linkList = (title: string, links: readonly AdminLink[]): Html | false =>
  links.length > 0 &&
  html`<section aria-labelledby="others">
    <h2 id="others">${title}</h2>
    <div class="buttons">
      ${links.map(({ href, text }) => html`<a class="button slim" href="${href}">${text}</a> `)}
    </div>
  </section>`;
