import { closeOpen } from '#shared/audit/close.ts';
import { type AuditFilter, listEvents } from '#shared/audit/list.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { auditFilter, AUDIT_OPTIONS, SINCE } from '../arguments/audit-options.ts';
import type { Command, OutputSlice, Shell } from '../arguments/command.ts';
import { auditSlice } from '../lines/audit-lines.ts';
import { withPersonId } from '../stores/audited-person.ts';
import { openAudit, type OpenedAudit } from '../stores/with-audit.ts';

const PAGE = 500;
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

/** The next page of events, and the place of the last one that there is; or why the store does not answer. */
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
