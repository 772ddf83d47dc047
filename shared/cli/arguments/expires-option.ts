import type { Clock } from '#shared/base/clock.ts';
import type { Input, Option } from './command.ts';
import { wholeNumber } from './whole-number.ts';

/** Milliseconds. */
const DAY = 86_400_000;

/** The way to say when a key ends. */
export const expiresOption = (otherwise: string): Readonly<Record<string, Option>> => ({
  expires: {
    value: 'DAYS',
    help: `days until it expires, at most 3650; default: ${otherwise}`,
  },
});

/** When it ends, in milliseconds since the epoch, if that was said. */
export function expiresAt(input: Input, clock: Clock): number | undefined {
  const days = wholeNumber(input, 'expires', 1, 3650);
  return days === undefined ? undefined : clock.now() + days * DAY;
}
