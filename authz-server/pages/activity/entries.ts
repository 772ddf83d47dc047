import type { Entry } from '#shared/audit/entry.ts';
import { isOfPerson, REFUSED_SIGN_INS, type RefusedSignIn } from '#shared/audit/event-kinds.ts';
import { listEvents, type Page } from '#shared/audit/list.ts';
import { findSignIn } from '#shared/people/access/sign-ins.ts';
import type { PagesServer } from '../../base/server.ts';
import { clientName } from '../account/client-name.ts';
import type { AccountPart, ActivityEntry } from '../frame/account-view.ts';
import { meansOf } from '../frame/sign-in-means.ts';
import type { Language } from '../frame/view.ts';

/** Kinds of events that often repeat. One entry stands for several of them, with their number. */
const IN_ROWS: ReadonlySet<string> = new Set(['token.issued', 'sign-in.refused']);

interface Activity {
  readonly entries: readonly ActivityEntry[];
  /** The position in the log from which older entries continue. */
  readonly next?: number;
}

/** Reads what happened to a person, and what the person did, from the audit log: the newest first. */
export async function activityOf(
  server: PagesServer,
  person: string,
  language: Language,
  page: Pick<Page, 'after' | 'limit'>,
): Promise<Activity> {
  const { audit } = server.stores;
  const { events, next } = await listEvents(audit, { person }, { ...page, newestFirst: true });
  const rows = rowsOf(events);
  const entries = await Promise.all(rows.map((row) => entryOf(server, person, language, row)));
  return { entries, ...(next !== undefined && { next }) };
}

/** Groups neighbouring events that would have the same text, the newest first. */
function rowsOf(events: readonly Entry[]): readonly (readonly [Entry, ...Entry[]])[] {
  const rows: [Entry, ...Entry[]][] = [];
  for (const event of events) {
    const row = rows.at(-1);
    if (row && IN_ROWS.has(event.kind) && isSame(row[0], event)) row.push(event);
    else rows.push([event]);
  }
  return rows;
}

const isSame = (one: Entry, other: Entry): boolean =>
  (['kind', 'client', 'reason', 'from'] as const).every(
    (name) => Reflect.get(one, name) === Reflect.get(other, name),
  );

async function entryOf(
  server: PagesServer,
  person: string,
  language: Language,
  [event, ...more]: readonly [Entry, ...Entry[]],
): Promise<ActivityEntry> {
  const at = Date.parse(event.time);
  if (!isOfPerson(event) || event.person !== person) return { kind: 'other', at };
  const { kind, who, from } = event;
  const by = doerOf(who, person);
  const count = kind === 'sign-in.refused-more' ? event.count : more.length + 1;
  const client = 'client' in event ? event.client : undefined;
  const signIn = kind === 'sign-in' ? await findSignIn(server, event.id) : undefined;
  const agent = signIn?.accountId === person ? signIn.agent : undefined;
  const means = kind === 'sign-in' ? meansOf(event.what) : undefined;
  const reason =
    kind === 'sign-in.refused' && isRefusedSignIn(event.reason)
      ? REFUSED_SIGN_INS[event.reason]
      : undefined;
  const part = kind === 'person.changed' ? PARTS.find((one) => one === event.what) : undefined;
  return {
    kind,
    at,
    ...(by && { by }),
    ...(count > 1 && { count }),
    ...(client !== undefined && { client: await clientName(server, client, language) }),
    ...(means && { means }),
    ...(reason && { reason }),
    ...(part && { part }),
    ...(agent !== undefined && { agent }),
    // The IP address of another person is not shown.
    ...(from !== undefined && by === undefined && { address: from }),
  };
}

/**
 * Returns who did it, if it was another person. Undefined: the person did it, or the server or application that the
 * text of the entry names.
 */
function doerOf(who: Entry['who'], person: string): ActivityEntry['by'] {
  if (who === 'operator') return 'operator';
  if (who === 'server' || !('person' in who)) return undefined;
  return who.person === person ? undefined : 'administrator';
}

const isRefusedSignIn = (reason: string): reason is RefusedSignIn =>
  Object.hasOwn(REFUSED_SIGN_INS, reason);

const PARTS: readonly AccountPart[] = [
  'emails',
  'profile',
  'profile, admin given',
  'profile, admin taken',
  'admin given',
  'admin taken',
  'kerberos',
];
