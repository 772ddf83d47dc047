import type { Audit, AuditQuery } from '#shared/stores/audit/audit.ts';
import type { Commands } from '../connection/connection.ts';
import { digestOf } from '../connection/digest.ts';
import type { Slots } from '../connection/slots.ts';
import { openEntries, type UpTo } from './closing.ts';
import { fileRows, findRows, mergedRows, removeRows } from './filed-rows.ts';
import { auditJournal, type Filing, type Removing } from './journal.ts';
import { logKeys, redisLinks } from './links.ts';
import { redisRefusals, type RefusalPlaces } from './refusals.ts';
import type { AuditStreams } from './streams.ts';

/** The hashes in the slots of people. Others choose ids, so that their digests decide. */
const refusalPlaces = (slots: Slots): RefusalPlaces => {
  const named = (slot: string) => `${slot}:audit:refused`;
  return { all: slots.all.map(named), of: (person) => named(slots.of(digestOf(person))) };
};

/**
 * Rows of the log and their indexes are in the slots of people (`filed-rows.ts`). What there is once for
 * each link is in the slot `{prefix:audit}`, with the rows of the link that is being filed (`journal.ts`).
 */
export function auditInSlots(
  redis: Commands,
  prefix: string,
  streams: AuditStreams,
  slots: Slots,
): Audit {
  const { links, turn } = logKeys(prefix);
  const journal = auditJournal(redis, prefix);
  const open = openEntries(redis, streams, turn);

  async function finish(filing: Filing): Promise<boolean> {
    const latest = await fileRows(redis, slots.all, filing.attempt, filing.rows);
    const later = String(latest + 1);
    // Redis has forgotten the later one in the slot of the head, and its clock is behind; or this process is.
    const isForgotten = latest > Number(filing.attempt) && (await journal.raise(filing, later));
    return isForgotten ? finish({ ...filing, attempt: later }) : journal.show(filing);
  }

  async function finishEnd(removing: Removing): Promise<void> {
    await removeRows(redis, slots.all, removing.rows);
    await journal.removed(removing);
  }

  /** Goes on with what others began, and looks again. */
  async function settled() {
    for (;;) {
      const { filing, removing, ...found } = await journal.look();
      if (removing) await finishEnd(removing);
      if (!filing) return found;
      await finish(filing);
    }
  }

  /** Returns rows behind all links. Those of a link that was committed meanwhile are none. */
  async function behind(query: AuditQuery, from: number, count: number) {
    const range = { ...query, first: Math.max(query.first, from + 1) };
    const found = await mergedRows(redis, slots.all, range, count);
    const { last } = await journal.bounds();
    return found.filter(({ seq }) => seq > last);
  }

  return {
    ...open.verbs,
    ...redisRefusals(redis, streams, refusalPlaces(slots)),
    ...redisLinks(redis, links),

    async open() {
      const { link: head, positions } = await settled();
      return { ...(await open.behind(positions)), head };
    },

    async close(link, rows, upTo) {
      const until: UpTo = JSON.parse(upTo);
      const attempt = await journal.commit(link, rows, JSON.stringify(until.positions));
      if (attempt === undefined) return false;
      const isShown = await finish({ link, attempt, rows });
      if (isShown) await open.trim(until);
      return isShown;
    },

    async rows(query, count) {
      const { ended, shown, last } = await journal.bounds();
      const first = Math.max(query.first, ended + 1);
      if (first > shown) return behind(query, last, count);
      const range = { ...query, first, last: Math.min(query.last, shown) };
      return findRows(redis, slots.all, range, count);
    },

    async end(link, rows) {
      await settled();
      if (await journal.hide(link, rows)) await finishEnd({ number: link.number, rows });
    },
  };
}
