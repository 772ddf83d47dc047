import { counted } from '#shared/base/counted.ts';
import { ruleText } from '#shared/http/ban-rule.ts';
import { listBans, MOST_BANS, type ShownBan } from '#shared/operations/cache/cache-bans.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

export const cacheBans = listCommandOf(listBans, {
  details: [`The command lists the last ${MOST_BANS}. Their counts are up to half a minute old.`],
  nothing: () => 'There was no ban in the last day.',
  lines: (items: readonly ShownBan[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['time', 'space', 'banned', 'answers are', 'met', 'progress'];

function progressOf(answers: ShownBan['met'], pending: number): string {
  if (answers === undefined) return 'no process has reported yet';
  return pending === 0 ? 'done' : `${counted(pending, 'process', 'processes')} not yet done`;
}

const row = ({ at, space, banned, soft, met: answers, pending }: ShownBan) => [
  at,
  space,
  typeof banned === 'string' ? banned : ruleText(banned),
  soft ? 'asked for again' : 'removed',
  answers === undefined ? '' : String(answers),
  progressOf(answers, pending),
];
