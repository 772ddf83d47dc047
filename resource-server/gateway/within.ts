import type { Target } from '#shared/http/target.ts';
import { leadsInto, type Space } from '../spaces.ts';
import { boldestReading } from './readings.ts';

/** Whether a target is in the space however an application reads it. */
export function isWithin(space: Space, raw: string, target: Target): boolean {
  if (!leadsInto(space, target) || !space.has(target.segments)) return false;
  const bold = boldestReading(raw);
  return bold !== undefined && space.hasInAnyCase(bold);
}
