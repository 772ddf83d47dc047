import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminLink, AdminOperationProps, AdminPart, AdminTold } from '../frame/admin-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { adminField } from './admin-fields.ts';
import { adminSection, adminTable } from './admin-table.ts';
import { adminFacts, adminValue } from './admin-values.ts';
import { form } from './form.ts';

/** The page of an operation: what it is for, its form, and what it gave. */
export function adminOperationPage(view: View, props: AdminOperationProps): Answer {
  const { title, text, told, done, status, links, hidden = {} } = props;
  const hasForm = props.fields.length + Object.keys(hidden).length > 0;
  const texts = textsOf(view.language).admin;
  const asked = done === undefined && hasForm && operationForm(view, props);
  const given = told && html`<section aria-label="${title}">${toldOf(view, told)}</section>`;
  return document(view, {
    title,
    ...(status !== undefined && { status }),
    content: html`<div class="wide roomy">
      <div class="intro">
        ${crumbs(view, props)}
        <h1>${title}</h1>
        ${
          done === undefined
            ? html`<p class="muted" ${props.isEnglish && html` lang="en"`}>${text}</p>`
            : html`<p class="note good" role="status">${done}</p>`
        }
        ${problemOf(view, props)}
      </div>
      ${told?.kind === 'list' && asked} ${given} ${linkList(texts.others, links)}
      ${props.sections?.map((section) => adminSection(view, section))}
      ${told?.kind !== 'list' && asked}
      ${done !== undefined && html`<p><a class="button" href="${props.home}">${texts.goOn}</a></p>`}
    </div>`,
  });
}

function crumbs({ language }: View, { home, path }: AdminOperationProps): Html {
  const texts = textsOf(language).admin;
  const last = path.length - 1;
  return html`<nav class="crumbs" aria-label="${texts.where}">
    <ol>
      <li><a href="${home}">${texts.title}</a></li>
      ${path.map(({ text, href }, index) =>
        index === last
          ? html`<li aria-current="page">${text}</li>`
          : html`<li>
              ${href === undefined ? html`<span>${text}</span>` : html`<a href="${href}">${text}</a>`}
            </li> `,
      )}
    </ol>
  </nav>`;
}

/** Where nothing would change, it goes without saying that nothing was done. */
function problemOf(view: View, { problem, effect }: AdminOperationProps): Html | undefined {
  if (problem === undefined) return undefined;
  const texts = textsOf(view.language).admin;
  return html`<p class="note bad" role="alert">
    ${
      problem.kind === 'sent'
        ? texts.sent
        : html`${effect === 'changes' && html`${texts.problem} `}${problem.text}`
    }
  </p>`;
}

/** An operation that only reads is asked for by GET, so that its address can be kept. */
function operationForm(view: View, props: AdminOperationProps): Html {
  const { action, effect, fields, parts = [], once, title, submit = title } = props;
  const marked = fields.map((field) =>
    Object.assign({}, field, effect === 'reads' && { isUsual: true as const }),
  );
  const content = html`${marked.map((field) => adminField(view, field))}
    ${parts.map((part) => partOf(view, part))}
    ${props.warning !== undefined && html`<p class="note warn">${props.warning}</p>`}
    <div class="buttons">
      <button class="button ${props.danger ? 'danger' : 'primary'}">
        ${effect === 'reads' ? textsOf(view.language).admin.search : submit}
      </button>
    </div>`;
  if (effect === 'reads') {
    return html`<form class="filters" method="get" action="${action}">${content}</form>`;
  }
  return form(view, action, { ...props.hidden, ...(once !== undefined && { once }) }, content);
}

/** Opens without script. */
function partOf(view: View, { title, fields, isOpen }: AdminPart): Html {
  return html`<details class="part" ${isOpen && html` open`}>
    <summary>${title}</summary>
    <div class="stack">${fields.map((field) => adminField(view, field))}</div>
  </details>`;
}

function toldOf(view: View, told: AdminTold): Html {
  if (told.kind === 'one') {
    const { value } = told;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? adminFacts(view, value)
      : html`<p>${adminValue(view, '', value)}</p>`;
  }
  return adminTable(view, told);
}

const linkList = (title: string, links: readonly AdminLink[]): Html | false =>
  links.length > 0 &&
  html`<section aria-labelledby="others">
    <h2 id="others">${title}</h2>
    <div class="buttons ways">
      ${links.map(
        ({ href, text, danger }) =>
          html`<a class="button slim${danger && ' danger'}" href="${href}">${text}</a> `,
      )}
    </div>
  </section>`;
