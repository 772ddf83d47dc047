import type { Answer } from '#shared/http/answer.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminLink, AdminOperationProps, AdminPart, AdminTold } from '../frame/admin-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { adminField } from './admin-fields.ts';
import { adminDocument } from './admin-frame.ts';
import { adminEvents, adminSection, adminTable } from './admin-table.ts';
import { adminFacts, adminValue } from './admin-values.ts';
import { form } from './form.ts';

/** The page of an operation: what it is for, its form, and what it gave. */
export function adminOperationPage(view: View, props: AdminOperationProps): Answer {
  const { title, text, told, done, status, links, hidden = {} } = props;
  const hasForm = props.fields.length + Object.keys(hidden).length > 0;
  const texts = textsOf(view.language).admin;
  const isList = told?.kind === 'list' || told?.kind === 'events';
  // The page of one thing shows another one by its address.
  const isOne = told?.kind === 'one' && props.effect === 'reads' && props.problem === undefined;
  const asked = done === undefined && hasForm && !isOne && operationForm(view, props);
  const given = told && html`<section aria-label="${title}">${toldOf(view, told)}</section>`;
  return adminDocument(view, props.nav, {
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
      ${isList && asked} ${waysOf(view, links)} ${given} ${linesOf(view, props.lines)}
      ${props.sections?.map((section) => adminSection(view, section))} ${kindsOf(view, props.kinds)}
      ${!isList && asked} ${dangerZone(view, links)}
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
  return told.kind === 'events' ? adminEvents(view, told) : adminTable(view, told);
}

/** The choice of a kind, before the form of all settings. */
function kindsOf({ language }: View, kinds: readonly AdminLink[] = []): Html | false {
  if (kinds.length === 0) return false;
  const texts = textsOf(language).admin.kindsOf;
  return html`<section aria-labelledby="kinds">
      <h2 id="kinds">${texts.title}</h2>
      <ul class="list">
        ${kinds.map(
          ({ href, text, does }) =>
            html`<li>
              <span class="entry"
                ><a href="${href}">${text}</a> <small class="muted">${does}</small></span
              >
            </li> `,
        )}
      </ul>
    </section>
    <h2>${texts.others}</h2>`;
}

const linesOf = ({ language }: View, lines: string | undefined): Html | false =>
  lines !== undefined &&
  html`<section aria-labelledby="lines">
    <h2 id="lines">${textsOf(language).admin.paste}</h2>
    ${copyable(language, html`<pre>${lines}</pre>`, textsOf(language).admin.paste)}
  </section>`;

/** The ways to other operations: the first is the usual one, and a menu has the others if they are many. */
function waysOf({ language }: View, links: readonly AdminLink[]): Html | false {
  const [first, ...others] = links.filter(({ danger }) => !danger);
  if (first === undefined) return false;
  const items = others.map(
    ({ href, text }) => html`<a class="button slim" href="${href}">${text}</a> `,
  );
  return html`<section class="buttons ways" aria-label="${textsOf(language).admin.others}">
    <a class="button slim primary" href="${first.href}">${first.text}</a>
    ${
      items.length > FEW
        ? html`<details class="menu">
            <summary class="button slim">${textsOf(language).admin.more}</summary>
            <div class="stack">${items}</div>
          </details>`
        : items
    }
  </section>`;
}

/** The most ways that are seen without a menu. */
const FEW = 3;

/** The ways to what takes something from somebody: last, and with what each does. */
const dangerZone = ({ language }: View, links: readonly AdminLink[]): Html | false =>
  links.some(({ danger }) => danger) &&
  html`<section class="danger-zone" aria-labelledby="danger">
    <h2 id="danger">${textsOf(language).admin.danger}</h2>
    <ul>
      ${links.map(
        ({ href, text, danger, does }) =>
          danger &&
          html`<li>
            <span>${does}</span>
            <a class="button slim danger" href="${href}">${text}</a>
          </li> `,
      )}
    </ul>
  </section>`;
