import type { Target } from '#shared/http/target.ts';
import { readingsOf } from './readings.ts';
import type { Space } from './spaces.ts';

/** The last answer about a target, which is the same object at each request that has it. Spaces do not change. */
interface Known {
  readonly space: Space;
  readonly raw: string;
  readonly within: boolean;
}

const known = new WeakMap<Target, Known>();

/**
 * Whether a target is in the space, no matter how an application reads it. A target that only the application can read
 * is in it, unless another space lies within this one.
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
