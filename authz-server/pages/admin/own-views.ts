import type { Language } from '#shared/pages/language.ts';
import type { AdminSection, AdminTold } from '../frame/admin-view.ts';
import { choiceWord } from '../texts/admin/words.ts';
import { warningWords } from '../texts/admin/messages.ts';
import { textsOf } from '../texts/index.ts';
import { lasting } from '../views/times.ts';
import { pageOf } from './addresses.ts';
import { clientGrants, GRANT_COLUMNS, grantRows } from './client-grants.ts';
import { eventLine } from './events.ts';
import { lastSeen, personSections } from './person-sections.ts';
import { recentEvents } from './recent-events.ts';
import { type Item, itemOf, itemsOf, type Tell, textIn, wordsOf } from './tell.ts';

/** How the page of an operation shows more, or otherwise, than what the operation told. */
interface OwnView {
  readonly told?: AdminTold;
  readonly sections: readonly AdminSection[];
}

type Make = (
  page: { readonly told: Item; readonly shown: AdminTold },
  tell: Tell,
  language: Language,
) => Promise<OwnView>;

/** The views of some operations: all that they show is told by operations. */
const OWN_VIEWS: Readonly<Record<string, Make>> = {
  async 'user show'({ told }, tell, language) {
    const sections = await personSections(told, tell, language);
    const seen = lastSeen(sections);
    const value = { ...told, ...(seen !== undefined && { last_seen: seen }) };
    return { told: { kind: 'one', value }, sections };
  },

  async 'client show'({ told }, tell, language) {
    const client = textIn(told, 'client_id');
    const recent = await recentEvents({ client }, 10, tell, language);
    const [last] = await tell.items('audit list', { client, kind: 'token.issued', limit: 1 });
    const value = { ...told, ...(last && { used_at: Date.parse(textIn(last, 'time')) }) };
    const grants = await clientGrants(client, tell, language);
    return { told: { kind: 'one', value }, sections: [grants, recent] };
  },

  async 'client access'({ told, shown }, _, language) {
    const rows = grantRows(told, language);
    return { told: { ...shown, kind: 'list', columns: GRANT_COLUMNS, rows }, sections: [] };
  },

  async 'realm list'(_, tell, language) {
    const { warnings } = await tell.one('server status');
    const ofSpaces = itemsOf(warnings).filter((one) => /^spaces\b/.test(textIn(one, 'path')));
    return { sections: [warningsSection(ofSpaces, language)] };
  },

  async 'cache stats'(_, tell, language) {
    const bans = await tell.items('cache bans');
    return {
      sections: [
        {
          id: 'bans',
          title: textsOf(language).admin.sections.bans,
          columns: ['space', 'banned', 'at', 'met', 'pending'],
          rows: bans.map((item) => ({ item })),
        },
      ],
    };
  },

  async 'server status'(
    { told: { version, processes, warnings, backup_every, backup_keep, ...value } },
    tell,
    language,
  ) {
    // A person's `version` counts changes: that of the software has a label of its own.
    const { backup_at, backup_overdue, mode, ...rest } = value;
    const isPlanned = backup_every !== undefined;
    return {
      told: {
        kind: 'one',
        value: {
          software_version: version,
          mode: choiceWord(language, String(mode)) ?? mode,
          ...rest,
          backup_schedule: backupSchedule(backup_every, backup_keep, language),
          ...((isPlanned || backup_at !== undefined) && {
            backup_at: backup_at ?? textsOf(language).admin.backup.none,
          }),
          ...(isPlanned && { backup_overdue }),
        },
      },
      sections: [
        {
          id: 'processes',
          title: textsOf(language).admin.sections.processes,
          columns: ['server', 'host', 'worker', 'software_version', 'since', 'state', 'heard_at'],
          rows: itemsOf(processes).map(({ version: own, ...item }) => ({
            item: { ...item, software_version: own },
          })),
        },
        warningsSection(itemsOf(warnings), language),
        {
          id: 'feed',
          title: textsOf(language).admin.sections.feed,
          columns: ['trusted', 'entries', 'silence'],
          rows: [{ item: await tell.one('revocation status') }],
          more: {
            href: pageOf({ name: 'revocation status' }),
            text: textsOf(language).admin.operations['revocation status'].title,
          },
        },
      ],
    };
  },

  async 'audit list'({ told, shown }, _, language) {
    const events = itemsOf(told['items']).map((event) => eventLine(event, told, language));
    const next = 'next' in shown ? { next: shown.next } : {};
    return { told: { kind: 'events', events, ...next }, sections: [] };
  },
};

/** How often a backup is due, in words. */
function backupSchedule(every: unknown, keep: unknown, language: Language): string {
  const { schedule, unplanned } = textsOf(language).admin.backup;
  if (typeof every !== 'number') return unplanned;
  return schedule(lasting(every, language), typeof keep === 'number' ? keep : undefined);
}

const warningsSection = (warnings: readonly Item[], language: Language): AdminSection => ({
  id: 'warnings',
  title: textsOf(language).admin.sections.warnings,
  columns: ['path', 'message'],
  empty: textsOf(language).admin.noWarnings,
  rows: warnings.map((item) => ({
    item: { path: item['path'], message: warningWords(language, wordsOf(item)) },
  })),
});

/** Returns what the page of an operation shows. */
export async function ownView(
  name: string,
  page: { readonly told: unknown; readonly shown: AdminTold },
  tell: Tell,
  language: Language,
): Promise<OwnView> {
  const make = Object.hasOwn(OWN_VIEWS, name) ? OWN_VIEWS[name] : undefined;
  return make?.({ ...page, told: itemOf(page.told) }, tell, language) ?? { sections: [] };
}
