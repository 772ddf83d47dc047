import type { Lines } from '../../forwarding/fields.ts';
import { valuesOf } from './lines.ts';

/** Names of groups that an application puts its answers into, with what stands between them: no RFC has either. */
const FIELDS = [
  ['surrogate-key', /[ \t]+/],
  ['cache-tag', /[ \t]*,[ \t]*/],
] as const;

/** Of one answer; what comes behind them is not heeded. */
const MOST = 128;

/** Of each field of groups all names, once. */
export function tagsOf(lines: Lines): readonly string[] {
  const tags = FIELDS.flatMap(([name, between]) =>
    valuesOf(lines, name).flatMap((value) => value.trim().split(between)),
  );
  return [...new Set(tags)].filter((tag) => tag !== '').slice(0, MOST);
}
