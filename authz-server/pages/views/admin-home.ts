import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminHomeProps, AdminNotice, AdminSearch } from '../frame/admin-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { adminSection } from './admin-table.ts';
import { facts } from './facts.ts';

/** Where administrators begin: a search, what wants attention, the last events, and everything that they can do. */
export function adminHomePage(view: View, props: AdminHomeProps): Answer {
  const { name, searches, figures, notices, recent, groups } = props;
  const texts = textsOf(view.language).admin;
  return document(view, {
    title: texts.title,
    content: html`<div class="wide roomy">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead(name)}</p>
      </div>
      <section class="searches" aria-label="${texts.find}">
        ${searches.map((one) => searchOf(view, one))}
      </section>
      <section aria-labelledby="attention">
        <h2 id="attention">${texts.overview.title}</h2>
        ${notices.length === 0 ? html`<p>${texts.overview.nothing}</p>` : noticeList(notices)}
        ${facts(figures)}
      </section>
      ${adminSection(view, recent)}
      ${groups.map(
        ({ name: group, title, text, links }) =>
          html`<section aria-labelledby="${group}">
            <h2 id="${group}">${title}</h2>
            ${text !== undefined && html`<p>${text}</p>`}
            <ul class="points">
              ${links.map(({ href, text: to }) => html`<li><a href="${href}">${to}</a></li> `)}
            </ul>
          </section> `,
      )}
    </div>`,
  });
}

/** Asked for by GET, so that what is found has an address. */
function searchOf({ language }: View, { action, label }: AdminSearch): Html {
  const id = `find-${action.replaceAll(/\W/g, '')}`;
  return html`<form class="search" method="get" action="${action}">
    <div class="field">
      <label for="${id}">${label}</label>
      <input
        class="input"
        id="${id}"
        name="prefix"
        type="search"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
      />
    </div>
    <button class="button">${textsOf(language).admin.find}</button>
  </form> `;
}

const noticeList = (notices: readonly AdminNotice[]): Html =>
  html`<ul class="points">
    ${notices.map(
      ({ text, href, detail }) =>
        html`<li>
          <a href="${href}">${text}</a>${detail !== undefined && html` <span>${detail}</span>`}
        </li> `,
    )}
  </ul>`;
