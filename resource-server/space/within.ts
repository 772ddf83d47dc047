import type { Target } from '#shared/http/target.ts';
import { readingsOf } from './readings.ts';
import type { Space } from './spaces.ts';

/** The last result for a target, which is the same object at each request. Spaces do not change. */
interface Known {
  readonly space: Space;
  readonly raw: string;
  readonly within: boolean;
}

const known = new WeakMap<Target, Known>();

/**
 * Whether a target is in the space, however an application reads it. A target that only the application can interpret
 * is in the space, unless the space contains another one.
 */
export function isWithin(space: Space, raw: string, target: Target): boolean {
  const before = known.get(target);
  if (before?.space === space && before.raw === raw) return before.within;
  const within = look(space, raw, target);
  known.set(target, { space, raw, within });
  return within;
}

function look(space: Space, raw: string, target: Target): boolean {
  if (target.odd !== undefined && target.odd < space.segments.length) return false;
  if (!space.has(target.segments)) return false;
  const readings = readingsOf(raw);
  if (readings === undefined || (readings.unclear && space.encloses(space.segments))) return false;
  return readings.paths.every((path) => space.mayHave(path));
}
