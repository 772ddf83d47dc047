import type { Language } from '#shared/pages/language.ts';
import type { AdminSection } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { eventLine } from './events.ts';
import { itemsOf, type Tell } from './tell.ts';

/** Returns the last events of a filter of `audit list`, and the way to the others. */
export async function recentEvents(
  filter: Readonly<Record<string, string>>,
  limit: number,
  tell: Tell,
  language: Language,
): Promise<AdminSection> {
  const texts = textsOf(language).admin;
  const told = await tell.one('audit list', { ...filter, limit });
  return {
    id: 'activity',
    title: texts.sections.activity,
    events: itemsOf(told['items']).map((event) => eventLine(event, told, language)),
    more: { href: pageOf({ name: 'audit list' }, filter), text: texts.all },
  };
}
