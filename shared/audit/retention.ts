import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';
import { type Closing, closeOpen, indexed } from './close.ts';
import { entryOf, textOf } from './entry.ts';
import { LATE } from './late.ts';

const DAY = 86_400_000;

/**
 * Removes whole days that are older than the retention time. A link that says so is written first: from then on links
 * before `oldest` may be missing, so that a verification never reports the removal as theft. The clock alone removes
 * nothing: it is trusted only up to times that the log shows. So a clock that jumped ahead removes at most a day too
 * much.
 */
export async function endOld(closing: Closing, days: number): Promise<void> {
  const { audit, clock } = closing;
  const now = clock.now();
  const [head] = await audit.links(undefined, 1);
  if (head === undefined) return;
  const before = (time: number) => time - (time % DAY) - days * DAY;
  const shown = (await isDue(audit, head, before(now), now))
    ? await shownTime(audit, head, now)
    : undefined;
  if (shown !== undefined) {
    const end = before(Math.min(now, shown + DAY));
    const oldest = await firstKept(audit, head, end, now);
    if (oldest > head.oldest) {
      const event = { kind: 'audit.ended', before: new Date(end).toISOString() } as const;
      await audit.append(textOf(event, { who: 'server', how: 'chore' }, now));
      await closeOpen(closing, oldest);
    }
  }
  await removeEnded(audit);
}

const rowsOf = (audit: Audit, { first, last }: AuditLink) =>
  audit.rows({ first, last }, last - first + 1);

/** Returns the times of a link's rows, without times in the future, which come from clocks that were ahead. */
async function timesOf(audit: Audit, link: AuditLink, now: number): Promise<readonly number[]> {
  const rows = await rowsOf(audit, link);
  return rows.map(({ text }) => Date.parse(entryOf(text).time)).filter((time) => time <= now);
}

/** Returns whether all rows of a link are older than `end`; undefined if some rows have times in the future. */
async function isOld(
  audit: Audit,
  link: AuditLink,
  end: number,
  now: number,
): Promise<boolean | undefined> {
  if (link.at < end) return true;
  const times = await timesOf(audit, link, now);
  return times.length === 0 ? undefined : times.every((time) => time < end);
}

/**
 * Returns whether the log begins with rows that are too old. It needs few reads, since it usually finds none. It
 * skips links of clocks that were ahead in increasing steps.
 */
async function isDue(audit: Audit, head: AuditLink, end: number, now: number): Promise<boolean> {
  for (let [number, step] = [head.oldest, 1]; number <= head.number; number += step, step *= 2) {
    const [link] = await audit.links(number, 1);
    const old = link && (await isOld(audit, link, end, now));
    if (old !== undefined) return old;
  }
  return false;
}

/** Returns the number of the first link that is kept; the last link is always kept. */
async function firstKept(audit: Audit, head: AuditLink, end: number, now: number): Promise<number> {
  let kept = head.oldest;
  for (let number = kept; number < head.number; number += 1) {
    const [link] = await audit.links(number, 1);
    const old = link && (await isOld(audit, link, end, now));
    if (old === false) break;
    if (old) kept = number + 1;
  }
  return kept;
}

/**
 * Returns the time of the newest link that is older than a day, by bisection; undefined if there is none. At links of
 * clocks that were ahead it may return an earlier time, so that more is kept.
 */
async function shownTime(audit: Audit, head: AuditLink, now: number): Promise<number | undefined> {
  let shown: number | undefined;
  let [low, high] = [head.oldest, head.number];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const [link] = await audit.links(middle, 1);
    const time = Math.max(...(link ? await timesOf(audit, link, now) : []));
    if (Number.isFinite(time) && time <= now - DAY) {
      shown = Math.max(shown ?? time, time);
      low = middle + 1;
    } else high = middle - 1;
  }
  return shown;
}

async function removeEnded(audit: Audit): Promise<void> {
  const [head] = await audit.links(undefined, 1);
  for (;;) {
    const [link]: readonly AuditLink[] = await audit.links(1, 1);
    if (head === undefined || link === undefined || link.number >= head.oldest) return;
    const rows = (await rowsOf(audit, link)).map(indexed);
    await audit.end(
      link,
      rows.map(({ keys, ...row }) => Object.assign(row, { keys: [...keys, LATE] })),
    );
  }
}
