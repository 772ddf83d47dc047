import { type AuditFilter, listEvents, type Listed } from '#shared/audit/list.ts';
import type { Audit } from '#shared/stores/audit/audit.ts';
import { listAudit } from '#shared/operations/audit/audit-list.ts';
import { auditFilter, AUDIT_OPTIONS, SINCE } from '../arguments/audit-options.ts';
import type { Command, OutputSlice, Shell } from '../arguments/command.ts';
import { wholeNumber } from '../arguments/whole-number.ts';
import { auditSlice } from '../lines/audit-lines.ts';
import { withPersonId } from '../stores/audited-person.ts';
import { openAudit } from '../stores/with-audit.ts';

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
    'Without --since and --after these are the last events. With --json each event is a line.',
    'Events name people and applications by id, so nothing in them names a person who was removed.',
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
  /** Whether these are the last ones. */
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
