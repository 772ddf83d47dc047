import type { Clock } from '#shared/base/clock.ts';
import type { Audit, AuditRow, IndexedRow } from '#shared/stores/audit/audit.ts';
import { entryOf, keysOf, textOf } from './entry.ts';
import { LATE, SLACK } from './late.ts';
import { macOf } from './mac.ts';
import { NOBODY } from './recorder.ts';

const HOUR = 3_600_000;

export interface Closing {
  readonly audit: Audit;
  /** The key, as `macKey` returns it. */
  readonly key: Buffer;
  readonly clock: Clock;
}

/**
 * Turns all committed events into rows of the log, link after link. Any number of processes may do so at once: if
 * several make the same link, one succeeds, and the others look again. `oldest`: links before it are about to be
 * removed.
 */
export async function closeOpen({ audit, key }: Closing, oldest = 1): Promise<void> {
  for (;;) {
    const { texts, upTo, head } = await audit.open();
    if (texts.length === 0) return;
    const first = (head?.last ?? 0) + 1;
    const entries = texts.map(entryOf);
    const link = {
      number: (head?.number ?? 0) + 1,
      before: head?.mac ?? '',
      first,
      last: first + texts.length - 1,
      at: Math.max(head?.at ?? 0, ...entries.map(({ time }) => Date.parse(time))),
      oldest: Math.max(head?.oldest ?? 1, oldest),
    };
    const rows = texts.map((text, n) => ({ seq: first + n, text }));
    const marked = markLate(rows.map(indexed), head?.at ?? 0);
    await audit.close({ ...link, mac: macOf(key, link, rows) }, marked, upTo);
  }
}

/** Returns a row with its index keys. */
export const indexed = ({ seq, text }: AuditRow) => ({ seq, text, keys: keysOf(entryOf(text)) });

/** Records for each past hour how many refused sign-ins were counted without an event of their own. */
export async function recordCounts({ audit, clock }: Closing, most: number): Promise<void> {
  const hour = Math.floor(clock.now() / HOUR);
  for (const refusal of await audit.refusals(hour)) {
    const { person } = refusal;
    const before = new Date((refusal.hour + 1) * HOUR).toISOString();
    const count = refusal.count - most;
    const event = { kind: 'sign-in.refused-more', person, count, before } as const;
    const text = textOf(event, { who: 'server', how: 'chore' }, clock.now());
    const isTold = count > 0 && person !== NOBODY;
    await audit.settleRefusal(refusal, ...(isTold ? [text] : []));
  }
}

/** Adds the key of late rows. `before`: the latest time in the earlier rows. */
function markLate(rows: readonly IndexedRow[], before: number): readonly IndexedRow[] {
  let latest = before;
  return rows.map(({ seq, text, keys }) => {
    const time = Date.parse(entryOf(text).time);
    const isLate = time < latest - SLACK;
    latest = Math.max(latest, time);
    return { seq, text, keys: isLate ? [...keys, LATE] : keys };
  });
}
