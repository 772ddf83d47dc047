import type { Listed } from '#shared/audit/list.ts';
import { table } from './table.ts';

const HEADINGS = ['seq', 'time', 'kind', 'by', 'how', ''];

const whoIn = (who: Listed['who']): string =>
  typeof who === 'string' ? who : Object.entries(who).flat().join(' ');

function row({ seq, time, kind, who, how, ...rest }: Listed): readonly string[] {
  const about = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return [String(seq), time, kind, whoIn(who), how, about.join(', ')];
}

/** Returns events for the output. `widths`: of the columns so far. */
export const auditSlice = (events: readonly Listed[], widths: number[]) => ({
  json: events,
  get lines() {
    return table(HEADINGS, events.map(row), widths);
  },
});
