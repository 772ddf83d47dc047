import type { Language } from '#shared/pages/language.ts';
import type { AdminSection } from '../frame/admin-view.ts';
import { programName } from '../views/program.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { recentEvents } from './recent-events.ts';
import { type Item, itemsOf, scopesIn, type Tell, textIn } from './tell.ts';

/** Events on the page of a person or client. */
const RECENT = 10;

/** Returns what a person has, each with the way to the page that ends or removes it, and the last events. */
export async function personSections(
  person: Item,
  tell: Tell,
  language: Language,
): Promise<readonly AdminSection[]> {
  const name = textIn(person, 'name');
  const texts = textsOf(language).admin;
  const [access, passkeys, keys] = await Promise.all([
    tell.one('user access', { name }),
    tell.items('user passkey list', { name }),
    tell.items('user key list', { name }),
  ]);
  const ending = (member: string, value: string) => [
    { href: pageOf({ name: 'user end' }, { name, [member]: value }), text: texts.end },
  ];
  const removing = (operation: string, member: string, row: Item) => [
    {
      href: pageOf({ name: operation }, { name, [member]: textIn(row, member) }),
      text: texts.remove,
    },
  ];
  const sections: readonly AdminSection[] = [
    {
      id: 'passkeys',
      title: texts.sections.passkeys,
      columns: ['name', 'domain', 'used_at'],
      rows: passkeys.map((item) => ({
        item,
        links: removing('user passkey remove', 'id', item),
      })),
    },
    {
      id: 'keys',
      title: texts.sections.keys,
      columns: ['name', 'scheme', 'used_at'],
      rows: keys.map((item) => ({
        item,
        links: removing('user key remove', 'fingerprint', item),
      })),
    },
    {
      id: 'sign-ins',
      title: texts.sections.signIns,
      columns: ['agent', 'since', 'address'],
      rows: itemsOf(access['sign_ins']).map((item) => ({
        item: Object.assign({}, item, {
          agent: programName(textIn(item, 'agent'), textsOf(language)),
        }),
        links: ending('sign_in', textIn(item, 'id')),
      })),
    },
    {
      id: 'grants',
      title: texts.sections.grants,
      columns: ['client_id', 'client_name', 'scopes', 'since', 'last_issue'],
      rows: itemsOf(access['grants']).map((item) => ({
        item: Object.assign({}, item, { scopes: scopesIn(item) }),
        href: pageOf({ name: 'client show' }, { client_id: textIn(item, 'client_id') }),
        links: ending('grant', textIn(item, 'id')),
      })),
    },
    {
      id: 'consents',
      title: texts.sections.consents,
      columns: ['client_id', 'client_name', 'since', 'redirect_host'],
      rows: itemsOf(access['consents']).map((item) => ({
        item,
        href: pageOf({ name: 'client show' }, { client_id: textIn(item, 'client_id') }),
        links: ending('client', textIn(item, 'client_id')),
      })),
    },
  ];
  return [
    ...sections.filter((section) => 'rows' in section && section.rows.length > 0),
    await recentEvents({ person: textIn(person, 'id') }, RECENT, tell, language),
  ];
}

/** The last moment of which anything of a person is known, in milliseconds since the epoch; undefined: none. */
export function lastSeen(sections: readonly AdminSection[]): number | undefined {
  const times = sections
    .flatMap((section) => ('rows' in section ? section.rows : []))
    .flatMap(({ item }) => SEEN.map((member) => (item as Item)[member]))
    .filter((at) => typeof at === 'number');
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Members that are moments at which somebody was here. */
const SEEN = ['used_at', 'since', 'last_issue'] as const;
