import { plainMembers } from '#shared/http/fields.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { valuesOf } from './lines.ts';

/** Fields by which an application puts its answers into groups, and how to split their values. No RFC defines them. */
const FIELDS = [
  ['surrogate-key', (value: string) => value.match(/[^ \t]+/g) ?? []],
  ['cache-tag', plainMembers],
] as const;

/** The most tags of one answer. Later tags are ignored. */
const MOST = 128;

/** Returns the group names in all such fields, without duplicates. */
export function tagsOf(lines: Lines): readonly string[] {
  const tags = FIELDS.flatMap(([name, members]) => valuesOf(lines, name).flatMap(members));
  return [...new Set(tags)].slice(0, MOST);
}
