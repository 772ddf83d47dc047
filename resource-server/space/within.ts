import type { Target } from '#shared/http/target.ts';
import { readingsOf } from './readings.ts';
import type { Space } from './spaces.ts';

/**
 * Whether a target is in the space, no matter how an application reads it. A target that only the application can read
 * is in it, unless another space lies within this one.
 */
export function isWithin(space: Space, raw: string, target: Target): boolean {
  if (target.odd !== undefined && target.odd < space.segments.length) return false;
  if (!space.has(target.segments)) return false;
  const readings = readingsOf(raw);
  if (readings === undefined || (readings.unclear && space.encloses(space.segments))) return false;
  return readings.paths.every((path) => space.mayHave(path));
}
