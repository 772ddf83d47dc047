import { type AuditFilter, type Listed, listEvents } from '#shared/audit/list.ts';
import type { Audit } from '#shared/stores/audit/audit.ts';
import { listAudit } from '#shared/operations/audit/audit-list.ts';
import { AUDIT_OPTIONS, auditFilter, SINCE } from '../arguments/audit-options.ts';
import {
  type Command,
  Failure,
  type OutputSlice,
  type Shell,
  UsageError,
} from '../arguments/command.ts';
import { wholeNumber } from '../arguments/whole-number.ts';
import { auditSlice } from '../lines/audit-lines.ts';
import { withPersonId } from '../stores/audited-person.ts';
import { openAudit, type OpenedAudit } from '../stores/with-audit.ts';
import { closeOpen } from '#shared/audit/close.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { counted } from '#shared/base/counted.ts';
import { checkpointText, parseCheckpoint, verifyLog } from '#shared/audit/verify.ts';

const PAGE = 500;
const DEFAULT = 100;

export const auditList: Command = {
  name: listAudit.name,
  store: 'opens',
  summary: listAudit.summary,
  options: {
    since: SINCE,
    until: { value: 'TIME', help: 'only before this time' },
    ...AUDIT_OPTIONS,
    after: { value: 'SEQ', help: 'only events after this number' },
    limit: { value: 'N', help: `at most so many; default: ${DEFAULT}` },
  },
  details: [
    'Without --since and --after the command lists the last events. With --json each event is a line.',
    'Events name people and applications by id, so no event has the name of a removed person.',
  ],
  run: async (input, shell) => {
    const filter = auditFilter(input, shell.clock);
    const after = wholeNumber(input, 'after', 0, 999_999_999);
    const limit = wholeNumber(input, 'limit', 1, 999_999_999) ?? DEFAULT;
    const newest = filter.since === undefined && after === undefined;
    return { slices: listed(shell, filter, { after, limit, newest }), apart: true };
  },
};

interface Asked {
  readonly after: number | undefined;
  readonly limit: number;
  /** Whether these events are the newest of the log. */
  readonly newest: boolean;
}

async function* listed(
  shell: Shell,
  asked: AuditFilter,
  { after, limit, newest }: Asked,
): AsyncGenerator<OutputSlice> {
  await using opened = await openAudit(shell);
  const filter = await withPersonId(asked, opened);
  const widths: number[] = [];
  const last: Listed[] = [];
  let isEmpty = true;
  for await (const events of pages(opened.audit, filter, after, limit, newest)) {
    isEmpty &&= events.length === 0;
    if (newest) last.push(...events);
    else if (events.length > 0) yield auditSlice(events, widths);
  }
  if (isEmpty) yield { json: [], lines: ['There is no such event.'] };
  else if (newest) yield auditSlice(last.toReversed(), widths);
}

async function* pages(
  audit: Audit,
  filter: AuditFilter,
  after: number | undefined,
  limit: number,
  newestFirst: boolean,
): AsyncGenerator<readonly Listed[]> {
  let left = limit;
  let behind = after;
  do {
    const page = await listEvents(audit, filter, {
      after: behind,
      limit: Math.min(left, PAGE),
      newestFirst,
    });
    left -= page.events.length;
    behind = page.next;
    yield page.events;
  } while (behind !== undefined && left > 0);
}

const PAUSE = 1000;

export const auditFollow: Command = {
  name: 'audit follow',
  store: 'opens',
  summary: 'show events as they happen, until Ctrl-C',
  options: { since: SINCE, ...AUDIT_OPTIONS },
  details: [
    'With --json each event is a line, for a program that collects logs. To continue after a break give --since, and skip the',
    'events that you have: the `seq` of an event never changes.',
  ],
  run: async (input, shell) => ({
    slices: followed(shell, auditFilter(input, shell.clock)),
    apart: true,
  }),
};

async function* followed(shell: Shell, asked: AuditFilter): AsyncGenerator<OutputSlice> {
  await using opened = await openAudit(shell);
  const filter = await withPersonId(asked, opened);
  const ending = shell.ending?.() ?? new AbortController().signal;
  const [head] = await opened.audit.links(undefined, 1);
  const widths: number[] = [];
  let after = filter.since === undefined ? (head?.last ?? 0) : 0;
  let isSilent = false;
  for (;;) {
    if (ending.aborted) return;
    const found = await look(opened, filter, after);
    if ('silent' in found) {
      if (!isSilent) shell.note(`${found.silent}. Nothing is lost: this goes on once it answers.`);
      isSilent = true;
    } else {
      const { events, next, last } = found;
      if (events.length > 0) yield auditSlice(events, widths);
      after = next ?? Math.max(after, last, events.at(-1)?.seq ?? 0);
      isSilent = false;
      if (next !== undefined) continue;
    }
    await shell.wait(PAUSE, ending).catch(() => {});
  }
}

/** Reads the next page of events, and the position of the newest event; or returns why the store does not answer. */
async function look(opened: OpenedAudit, filter: AuditFilter, after: number) {
  try {
    await closeOpen(opened);
    const [newest] = await opened.audit.links(undefined, 1);
    const page = await listEvents(opened.audit, filter, { after, limit: PAGE });
    return { ...page, last: newest?.last ?? 0 };
  } catch (error) {
    if (error instanceof StoreUnavailable) return { silent: error.message };
    throw error;
  }
}

export const auditVerify: Command = {
  name: 'audit verify',
  store: 'opens',
  summary: 'check that no event was changed, removed, added or moved',
  options: {
    checkpoint: {
      value: 'CHECKPOINT',
      help: 'the output of an earlier verification: also detects a removed end',
    },
  },
  details: [
    'The events are chained by HMAC under the master secret. An attacker with the secret and the store can forge the chain,',
    'and a removed end leaves a valid chain. So keep the checkpoint that this command prints on another machine,',
    'and give the checkpoint to the next run.',
  ],
  run: async (input, shell) => {
    const text = input.text('checkpoint');
    const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
    if (text !== undefined && checkpoint === undefined) {
      throw new UsageError('--checkpoint must be what an earlier `audit verify` printed');
    }
    await using opened = await openAudit(shell);
    const verified = await verifyLog(opened.audit, opened.key, checkpoint);
    if (!verified.ok) throw new Failure(`the audit log was tampered with: ${verified.reason}`);
    const { rows, ended, damaged } = verified;
    const next = verified.checkpoint && checkpointText(verified.checkpoint);
    if (damaged) {
      throw new Failure(
        `events may be missing before ${damaged.join(', ')}: the store had lost something by then. The ${counted(rows, 'event')} that are there are unchanged. To verify what comes from now on, give --checkpoint ${next}`,
      );
    }
    return {
      json: { rows, checkpoint: next, ...(ended && { ended }) },
      lines: [
        `${counted(rows, 'event')}, unchanged and in order.`,
        ...(ended
          ? ['The link of the checkpoint is older than the log is kept: it was not compared.']
          : []),
        ...(next ? [`checkpoint: ${next}`] : []),
      ],
    };
  },
};
