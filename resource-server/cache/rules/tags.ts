import { plainMembers } from '#shared/http/fields.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { valuesOf } from './lines.ts';

/** Names of groups that an application puts its answers into, and how they are told apart: no RFC has either. */
const FIELDS = [
  ['surrogate-key', (value: string) => value.match(/[^ \t]+/g) ?? []],
  ['cache-tag', plainMembers],
] as const;

/** The most tags of one answer. Those behind them are ignored. */
const MOST = 128;

/** Returns the names in all fields of groups, each once. */
export function tagsOf(lines: Lines): readonly string[] {
  const tags = FIELDS.flatMap(([name, members]) => valuesOf(lines, name).flatMap(members));
  return [...new Set(tags)].slice(0, MOST);
}
