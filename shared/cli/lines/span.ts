import { counted } from '#shared/base/counted.ts';

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A time that has passed, in the longest unit that it has one of: 3 hours. */
export function span(seconds: number): string {
  const [unit, length] = UNITS.find(([, one]) => seconds >= one) ?? (['second', 1] as const);
  return counted(Math.max(0, Math.floor(seconds / length)), unit);
}

/** How often something is done, exactly: every day, every 90 minutes. */
export function every(seconds: number): string {
  const [unit, length] = UNITS.find(([, one]) => seconds % one === 0) ?? (['second', 1] as const);
  return seconds === length ? `every ${unit}` : `every ${counted(seconds / length, unit)}`;
}
