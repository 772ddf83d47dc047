import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminHomeProps, AdminNotice, AdminSearchProps } from '../frame/admin-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { adminDocument } from './admin-frame.ts';
import { adminSection } from './admin-table.ts';
import { facts } from './facts.ts';

/** Where administrators begin: what wants attention, the usual actions, and the last events. */
export function adminHomePage(view: View, props: AdminHomeProps): Answer {
  const { nav, name, figures, notices, recent, links } = props;
  const texts = textsOf(view.language).admin;
  return adminDocument(view, nav, {
    title: texts.title,
    content: html`<div class="wide roomy">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead(name)}</p>
      </div>
      <section aria-labelledby="attention">
        <h2 id="attention">${texts.overview.title}</h2>
        ${notices.length === 0 ? html`<p>${texts.overview.nothing}</p>` : noticeList(notices)}
        ${facts(figures)}
        <div class="buttons ways">
          ${links.map(({ href, text }) => html`<a class="button slim" href="${href}">${text}</a> `)}
        </div>
      </section>
      ${adminSection(view, recent)}
    </div>`,
  });
}

/** The results of a search, by kind. */
export function adminSearchPage(view: View, { nav, sections }: AdminSearchProps): Answer {
  const { find } = textsOf(view.language).admin;
  return adminDocument(view, nav, {
    title: find.title,
    content: html`<div class="wide roomy">
      <div class="intro">
        <h1>${find.title}</h1>
        <p class="muted">${find.text}</p>
      </div>
      ${sections.map((section) => adminSection(view, section))}
    </div>`,
  });
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
