import type { Language } from '#shared/pages/language.ts';
import type { AdminHomeProps, AdminNotice } from '../frame/admin-view.ts';
import { warningWords } from '../texts/admin/messages.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { type Item, itemsOf, type Tell, textIn, wordsOf } from './tell.ts';

/** People at whom the first page of administrators looks: a page of the list. */
const PEOPLE = 100;

/** Lines for warnings of the configuration; others are counted. With those for other things they are ten at most. */
const LINES = 4;

/** Settings that a line names; others are counted. */
const PATHS = 5;

/** Milliseconds before its end from which on a key wants attention: two weeks. */
const SOON = 14 * 86_400_000;

/** Returns the figures of the first page, and what wants attention there. */
export async function overview(
  tell: Tell,
  now: number,
  language: Language,
): Promise<Pick<AdminHomeProps, 'figures' | 'notices'>> {
  const texts = textsOf(language).admin.overview;
  const [status, people, clients, bans, keys] = await Promise.all([
    tell.one('server status'),
    tell.one('user list', { limit: PEOPLE }),
    tell.one('client list'),
    tell.items('cache bans'),
    tell.items('key list'),
  ]);
  const persons = itemsOf(people['items']);
  const processes = itemsOf(status['processes']).filter(({ state }) => state !== 'ended');
  const lacking = persons.filter((person) => person['lacks_second_factor'] === true).length;
  const pending = bans.filter(({ pending: left }) => left !== 0).length;
  const ending = keys.filter(({ expires_at: end }) => isSoon(end, now)).length;
  const isUnsaved =
    status['mode'] === 'production' &&
    status['backup_every'] === undefined &&
    status['backup_at'] === undefined;
  const unready = processes.filter(({ ready }) => ready !== true).length;
  return {
    figures: [
      [texts.people, counted(people)],
      [texts.clients, counted(clients)],
      [texts.processes, String(processes.length)],
      [texts.version, textIn(status, 'version')],
    ],
    notices: [
      ...noticeOf(lacking, texts.lacking, {
        name: 'user list',
        members: { lacking_second_factor: 'true' },
      }),
      ...noticeOf(ending, texts.ending, { name: 'key list' }),
      ...noticeOf(unready, texts.unready, { name: 'server status' }),
      ...noticeOf(new Set(processes.map(({ version }) => version)).size > 1 ? 2 : 0, texts.mixed, {
        name: 'server status',
      }),
      ...noticeOf(status['backup_overdue'] === true ? 1 : 0, () => texts.overdue, {
        name: 'server status',
      }),
      ...noticeOf(isUnsaved ? 1 : 0, () => texts.noBackups, { name: 'server status' }),
      ...noticeOf(pending, texts.bans, { name: 'cache bans' }),
      ...warningNotices(itemsOf(status['warnings']), language),
    ],
  };
}

/** Warnings that say the same of several settings are one line. */
function warningNotices(warnings: readonly Item[], language: Language): readonly AdminNotice[] {
  const texts = textsOf(language).admin.overview;
  const href = pageOf({ name: 'server status' });
  const lines = [...Map.groupBy(warnings, (one) => warningWords(language, wordsOf(one)))];
  const left = lines.slice(LINES).reduce((sum, [, alike]) => sum + alike.length, 0);
  return [
    ...lines.slice(0, LINES).map(([message, alike]) => {
      const paths = alike.slice(0, PATHS).map((one) => textIn(one, 'path'));
      const rest = alike.length - paths.length;
      const named = `${paths.join(', ')}${rest > 0 ? ` (+ ${rest})` : ''}`;
      return { text: texts.warning(alike.length), detail: `${named} ${message}.`, href };
    }),
    ...(left > 0 ? [{ text: texts.more(left), href }] : []),
  ];
}

const isSoon = (end: unknown, now: number) =>
  typeof end === 'number' && end > now && end < now + SOON;

/** How many rows a list has, as far as its first page tells. */
const counted = (page: Item): string =>
  `${itemsOf(page['items']).length}${page['next'] === undefined ? '' : '+'}`;

const noticeOf = (
  count: number,
  text: (count: number) => string,
  { name, members }: { readonly name: string; readonly members?: Readonly<Record<string, string>> },
): readonly AdminNotice[] =>
  count === 0 ? [] : [{ text: text(count), href: pageOf({ name }, members) }];
