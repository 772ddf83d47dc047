import { isKind } from '#shared/audit/event-kinds.ts';
import type { AuditFilter } from '#shared/audit/list.ts';
import type { Clock } from '#shared/base/clock.ts';
import { type Input, type Option, UsageError } from './command.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The options that say which events are shown. */
export const AUDIT_OPTIONS: Readonly<Record<string, Option>> = {
  kind: { value: 'KIND', help: 'only this kind, such as sign-in.refused' },
  person: {
    value: 'ID',
    help: 'only what this person did, or what is about them (user show NAME)',
  },
  client: { value: 'CLIENT', help: 'the same for an application' },
};

export const SINCE: Option = {
  value: 'TIME',
  help: 'only from then on: an ISO 8601 time such as 2026-11-25T08:00Z, or 90s, 15m, 2h or 7d ago',
};

/** Throws `UsageError` if an option has no such form. */
export function auditFilter(input: Input, clock: Clock): AuditFilter {
  const kind = input.text('kind');
  if (kind !== undefined && !isKind(kind)) {
    throw new UsageError(`--kind ${kind}: docs/reference/audit-events.md lists the kinds`);
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
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return clock.now() - Number(count) * (UNITS[unit] ?? 0) * 1000;
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new UsageError(
    `--${option} must be an ISO 8601 time with Z or an offset, a date, or such as 2h`,
  );
}
