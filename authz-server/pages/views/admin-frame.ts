import type { Answer } from '#shared/http/answer.ts';
import type { PageContent } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { AdminNav } from '../frame/admin-view.ts';
import { document } from '../frame/shell.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** Shows what the search finds while an administrator types. Without it the button of the form searches. */
const SEARCH_SCRIPT = `
{
  const field = document.getElementById('search');
  const list = document.getElementById('search-results');
  const status = document.getElementById('search-status');
  let asking = new AbortController();
  const show = (items, said) => {
    list.replaceChildren(...items.map(({ href, text, detail }) => {
      const link = Object.assign(document.createElement('a'), { href, textContent: text });
      const small = Object.assign(document.createElement('small'), { textContent: detail });
      const item = document.createElement('li');
      item.append(link, ' ', small);
      return item;
    }));
    list.hidden = items.length === 0;
    status.textContent = said;
  };
  field.addEventListener('input', async () => {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const text = field.value.trim();
    if (text === '') return show([], '');
    await new Promise((resolve) => setTimeout(resolve, 150));
    if (signal.aborted) return;
    try {
      const url = new URL(field.form.action);
      url.searchParams.set('q', text);
      const answer = await fetch(url, { headers: { Accept: 'application/json' }, signal });
      const { items, said } = await answer.json();
      show(items, said);
    } catch {
      // Another text is asked for, or the server wants another sign-in, to which the button of the form leads.
      if (!signal.aborted) show([], '');
    }
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (!field.form.contains(target)) show([], '');
  });
  field.form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    show([], '');
    field.focus();
  });
}`;

/** A page of administrators: below its head are navigation and search. */
export const adminDocument = (
  view: View,
  nav: AdminNav,
  page: Pick<PageContent, 'title' | 'content' | 'status'>,
): Answer =>
  document(view, { ...page, script: { text: SEARCH_SCRIPT, asks: true } }, navigation(view, nav));

function navigation(view: View, { sections, groups, search, searched = '' }: AdminNav): Html {
  const texts = textsOf(view.language).admin;
  return html`<div class="bar">
      ${tabs(texts.title, sections)}
      <form class="search" role="search" method="get" action="${search}">
        <label class="hidden" for="search">${texts.find.label}</label>
        <input
          class="input"
          id="search"
          name="q"
          type="search"
          value="${searched}"
          placeholder="${texts.find.hint}"
          maxlength="256"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
        />
        <button class="button slim">${texts.find.submit}</button>
        <ul class="results" id="search-results" hidden></ul>
        <p class="hidden" id="search-status" role="status"></p>
      </form>
    </div>
    ${groups.length > 0 && html`<div class="bar">${tabs(texts.within, groups)}</div>`}`;
}

const tabs = (label: string, links: AdminNav['sections']): Html =>
  html`<nav class="tabs" aria-label="${label}">
    <ul>
      ${links.map(
        ({ href, text, isHere }) =>
          html`<li>
            <a href="${href}" ${isHere && html` aria-current="${isHere}"`}>${text}</a>
          </li> `,
      )}
    </ul>
  </nav>`;
