import type { Answer } from '#shared/http/answer.ts';
import type { Frame } from '#shared/pages/document.ts';
import { errorPage as page } from '#shared/pages/error-page.ts';
import { html } from '#shared/pages/html.ts';
import { textsOf } from '../texts/index.ts';

export interface ErrorProps {
  readonly status: number;
  /** The detail of the problem details that the page replaces. */
  readonly detail: string;
  readonly id: string | undefined;
  readonly ways: Ways;
}

/** Addresses of pages: the home page, unless a space has its path, and the account page. */
export interface Ways {
  readonly home: string | undefined;
  readonly account: string;
}

/** Without valid credentials, and without access. */
const NEEDS_ACCESS: ReadonlySet<number> = new Set([401, 403]);

/** The page that shows an error to a person. */
export function errorPage(frame: Frame, props: ErrorProps): Answer {
  const { errors, ways: words } = textsOf(frame.language);
  const { title, text } = errors[props.status] ?? errors[props.status < 500 ? 4 : 5] ?? NO_WORDS;
  const { home, account } = props.ways;
  const way =
    NEEDS_ACCESS.has(props.status) &&
    html`${home !== undefined && html`<a class="button primary" href="${home}">${words.home}</a>`}
      <a class="button" href="${account}">${words.account}</a>`;
  return page(frame, { ...props, title, text, ...(way && { way }) });
}

const NO_WORDS = { title: '', text: '' };
