import type { Language } from '#shared/pages/language.ts';
import type { AdminRow, AdminSection } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from '../views/program.ts';
import { pageOf } from './addresses.ts';
import { type Item, itemOf, itemsOf, scopesIn, type Tell, textIn } from './tell.ts';

/** Grants on the page of a client. */
const FIRST = 10;

/** The columns of grants of a client. */
export const GRANT_COLUMNS = ['name', 'scopes', 'since', 'last_issue', 'agent'] as const;

/** Returns what `client access` told as rows, each with the ways to its person and to its end. */
export function grantRows(told: Item, language: Language): readonly AdminRow[] {
  const client = textIn(told, 'client_id');
  return itemsOf(told['items']).map((grant) => grantRow(client, grant, language));
}

function grantRow(client_id: string, grant: Item, language: Language): AdminRow {
  const { since, last_issue, name: known } = grant;
  // A person who was removed has an id alone, and no page.
  const name = known === undefined ? textIn(grant, 'person') : textIn(grant, 'name');
  const agent = textIn(itemOf(grant['device'] ?? grant['browser']), 'agent');
  const end = pageOf({ name: 'client end' }, { client_id, grant: textIn(grant, 'id') });
  return {
    item: {
      name,
      scopes: scopesIn(grant),
      since,
      last_issue,
      agent: programName(agent, textsOf(language)),
    },
    ...(known !== undefined && {
      cells: { name: { href: pageOf({ name: 'user show' }, { name }), text: name } },
    }),
    links: [{ href: end, text: textsOf(language).admin.end }],
  };
}

/** Returns the first grants of a client, and the way to the others. */
export async function clientGrants(
  client_id: string,
  tell: Tell,
  language: Language,
): Promise<AdminSection> {
  const { sections, all } = textsOf(language).admin;
  const told = await tell.one('client access', { client_id, limit: FIRST });
  return {
    id: 'grants',
    title: sections.grants,
    columns: GRANT_COLUMNS,
    rows: grantRows(told, language),
    more: { href: pageOf({ name: 'client access' }, { client_id }), text: all },
  };
}
