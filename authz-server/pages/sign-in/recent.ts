import type { Clock } from '#shared/base/clock.ts';
import type { Visitor } from './session.ts';

/** Milliseconds. */
const RECENT = 300_000;

/** Whether the visitor has just signed in, as whoever changes a way to sign in must have. */
export function isRecent({ signIn }: Visitor, clock: Clock): boolean {
  const age = clock.now() - signIn.since;
  return age >= 0 && age <= RECENT;
}
