import { EVENT_KINDS, isKind } from '#shared/audit/event-kinds.ts';
import type { AuditFilter } from '#shared/audit/list.ts';
import type { Clock } from '#shared/base/clock.ts';
import { MOMENT, momentIn } from '#shared/operations/audit/audit-moment.ts';
import { type Input, type Option, UsageError } from './command.ts';

/** The options that say which events are shown. */
export const AUDIT_OPTIONS: Readonly<Record<string, Option>> = {
  kind: {
    value: 'KIND',
    help: 'only events of this kind, such as sign-in.refused; an unknown kind prints all kinds',
  },
  person: {
    value: 'PERSON',
    help: 'only what this person did, or what is about them: an id or a name',
  },
  client: { value: 'CLIENT', help: 'only what this application did, or what is about it: an id' },
};

export const SINCE: Option = {
  value: 'TIME',
  help: 'only events since an ISO 8601 time such as 2026-11-25T08:00Z, or 90s, 15m, 2h or 7d ago',
};

/** Returns the filter that the options name. Throws `UsageError` if an option has another form. */
export function auditFilter(input: Input, clock: Clock): AuditFilter {
  const kind = input.text('kind');
  if (kind !== undefined && !isKind(kind)) {
    const kinds = Object.keys(EVENT_KINDS).join(', ');
    throw new UsageError(`--kind is ${kind}: it must be one of ${kinds}`);
  }
  const [person, client] = [input.text('person'), input.text('client')];
  return {
    kind,
    person,
    client,
    since: timeIn(input, 'since', clock),
    until: timeIn(input, 'until', clock),
  };
}

function timeIn(input: Input, option: string, clock: Clock): number | undefined {
  const text = input.text(option);
  if (text === undefined) return undefined;
  const at = momentIn(text, clock.now());
  if (at === undefined) throw new UsageError(`--${option} ${MOMENT.message}`);
  return at;
}
