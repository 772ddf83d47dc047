import { plainMembers } from '#shared/http/fields.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { valuesOf } from './lines.ts';

/** Names of groups that an application puts its answers into, and how they are told apart: no RFC has either. */
const FIELDS = [
  ['surrogate-key', (value: string) => value.match(/[^ \t]+/g) ?? []],
  ['cache-tag', plainMembers],
] as const;

/** Of one answer; what comes behind them is not heeded. */
const MOST = 128;

/** Of each field of groups all names, once. */
export function tagsOf(lines: Lines): readonly string[] {
  const tags = FIELDS.flatMap(([name, members]) => valuesOf(lines, name).flatMap(members));
  return [...new Set(tags)].slice(0, MOST);
}
