import type { Operation } from '#shared/operations/operation.ts';
import type { Page } from '#shared/operations/page.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminTold } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { pageOfItem } from './links.ts';
import { rowLinks } from './row-links.ts';
import { itemOf } from './tell.ts';

/** The columns of lists whose first members are not those that people look for. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'client list': ['client_id', 'client_name', 'scope', 'created_at'],
  'user list': ['name', 'groups', 'admin', 'disabled', 'created_at'],
  'key list': ['application', 'realm', 'id', 'used_at'],
  'user key list': ['name', 'person', 'scheme', 'used_at'],
  'user passkey list': ['name', 'person', 'domain', 'used_at'],
};
/** Columns of any other list. */
const MOST = 4;

/** Returns what an operation gave as its page shows it. `query`: that of the page, which the next one keeps. */
export function toldBy(
  operation: Operation,
  told: unknown,
  language: Language,
  query?: URLSearchParams,
): AdminTold {
  if (!isPage(told)) return { kind: 'one', value: told };
  const { items, next } = told;
  const first = items[0];
  const members = typeof first === 'object' && first !== null ? Object.keys(first) : [];
  const asked = Object.fromEntries(query ?? []);
  const rows = items.map((item) => {
    const href = pageOfItem(operation, item, 'show');
    const links = rowLinks(operation.name, itemOf(item), asked, language);
    if (href !== undefined) return { item, href, links };
    // A thing with a page of its own is removed there.
    const removal = pageOfItem(operation, item, 'remove');
    const { remove } = textsOf(language).admin;
    return { item, links: removal ? [...links, { href: removal, text: remove }] : links };
  });
  const after = new URLSearchParams(query);
  if (next !== undefined) after.set('after', next);
  return {
    kind: 'list',
    columns: COLUMNS[operation.name] ?? members.slice(0, MOST),
    rows,
    ...(next !== undefined && { next: pageOf(operation, after) }),
  };
}

const isPage = (told: unknown): told is Page =>
  typeof told === 'object' && told !== null && 'items' in told && Array.isArray(told.items);
