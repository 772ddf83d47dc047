import { sameText } from '#shared/base/constant-time.ts';
import type { Audit, AuditLink } from '#shared/stores/audit/audit.ts';
import { entryOf, keyOf } from './entry.ts';
import { macOf } from './mac.ts';

const LINKS = 100;
/** The most times of losses that are reported. */
const MOST_LOSSES = 20;

/** A link at an earlier time. Kept elsewhere, it shows that the log was neither truncated after it nor rewritten. */
export interface Checkpoint {
  readonly number: number;
  readonly mac: string;
}

export const checkpointText = ({ number, mac }: Checkpoint): string => `${number}.${mac}`;

/** Parses a checkpoint; returns undefined if the text is none. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [, number, mac] = /^([1-9]\d{0,14})\.([\w-]{43})$/.exec(text) ?? [];
  return number === undefined || mac === undefined ? undefined : { number: Number(number), mac };
}

export type Verified =
  | {
      readonly ok: true;
      readonly rows: number;
      /** The last link; absent if the log is empty. */
      readonly checkpoint?: Checkpoint;
      /**
       * True if the link of the given checkpoint was removed after the retention time, so that nothing shows its
       * presence.
       */
      readonly ended?: true;
      /** The times after the checkpoint at which the store had lost data: earlier events may be missing. ISO 8601. */
      readonly damaged?: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

/** Thrown inside this file with the fault of the log. */
class Broken extends Error {}

/**
 * Recomputes the whole chain, and compares it with a checkpoint. It finds rows that were changed, removed, added or
 * exchanged, and missing links. With the checkpoint it also finds a truncated end, and a log that was rewritten with
 * the key.
 */
export async function verifyLog(
  audit: Audit,
  key: Buffer,
  checkpoint?: Checkpoint,
): Promise<Verified> {
  for (;;) {
    const begin = await audit.links(1, 1);
    try {
      return await walk(audit, key, checkpoint);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      // Old links may have been removed meanwhile.
      const [oldest] = await audit.links(1, 1);
      if (oldest?.number === begin[0]?.number) return { ok: false, reason: error.message };
    }
  }
}

async function walk(
  audit: Audit,
  key: Buffer,
  checkpoint: Checkpoint | undefined,
): Promise<Verified> {
  let last: AuditLink | undefined;
  let oldest: AuditLink | undefined;
  let rows = 0;
  let met = checkpoint === undefined;
  let compared = 0;
  for (;;) {
    const links = await audit.links((last?.number ?? 0) + 1, LINKS);
    for (const link of links) {
      follows(link, last);
      oldest ??= link;
      await sealed(audit, key, link);
      if (checkpoint?.number === link.number) met = sameText(checkpoint.mac, link.mac);
      if (checkpoint?.number === link.number && !met) {
        throw new Broken(`link ${link.number} is not the one of the checkpoint`);
      }
      if (checkpoint?.number === link.number) compared = link.last;
      rows += link.last - link.first + 1;
      last = link;
    }
    if (links.length < LINKS) break;
  }
  if (last === undefined || oldest === undefined) return empty(audit, checkpoint);
  if (oldest.number > last.oldest) {
    throw new Broken(
      `links before ${oldest.number} are missing: the log should begin with link ${last.oldest}`,
    );
  }
  await nothingBeside(audit, oldest, last);
  const { number, mac } = last;
  const lost = keyOf.kind('store.damaged');
  const losses = await audit.rows({ key: lost, first: compared + 1, last: last.last }, MOST_LOSSES);
  const damaged = losses.map(({ text }) => entryOf(text).time);
  const found = {
    ok: true,
    rows,
    checkpoint: { number, mac },
    ...(damaged.length > 0 && { damaged }),
  } as const;
  if (met || checkpoint === undefined) return found;
  if (checkpoint.number < oldest.number) return { ...found, ended: true };
  throw new Broken(`the log ends with link ${number}, before the checkpoint`);
}

async function empty(audit: Audit, checkpoint: Checkpoint | undefined): Promise<Verified> {
  if (checkpoint) throw new Broken('the log is empty, and there is a checkpoint of it');
  const [row] = await audit.rows({ first: 0, last: Number.MAX_SAFE_INTEGER }, 1);
  if (row) throw new Broken(`row ${row.seq} is in no link`);
  return { ok: true, rows: 0 };
}

function follows(link: AuditLink, last: AuditLink | undefined): void {
  const isNext =
    last === undefined
      ? link.number > 1 || (link.first === 1 && link.before === '')
      : link.number === last.number + 1 &&
        link.first === last.last + 1 &&
        link.before === last.mac &&
        link.oldest >= last.oldest;
  if (!isNext) throw new Broken(`link ${link.number} does not follow the one before`);
}

async function sealed(audit: Audit, key: Buffer, link: AuditLink): Promise<void> {
  const { number, first, last, mac } = link;
  const rows = await audit.rows({ first, last }, last - first + 1);
  const gap = rows.findIndex(({ seq }, n) => seq !== first + n);
  const missing = gap === -1 ? rows.length : gap;
  if (missing < last - first + 1) throw new Broken(`row ${first + missing} is missing`);
  if (sameText(macOf(key, link, rows), mac)) return;
  throw new Broken(`something in link ${number}, rows ${first} to ${last}, was changed`);
}

async function nothingBeside(audit: Audit, oldest: AuditLink, last: AuditLink): Promise<void> {
  const [before] = await audit.rows({ first: 0, last: oldest.first - 1 }, 1);
  const [behind] = await audit.rows({ first: last.last + 1, last: Number.MAX_SAFE_INTEGER }, 1);
  // Rows behind the last link are right if another link was made meanwhile.
  const isNew = (await audit.links(last.number + 1, 1)).length > 0;
  const beside = before ?? (isNew ? undefined : behind);
  if (beside) throw new Broken(`row ${beside.seq} is in no link`);
}
