import type { PagesServer } from '../../base/server.ts';
import type { Visitor } from './session.ts';

/** Milliseconds for which a sign-in counts as recent. */
export const RECENT = 300_000;

/**
 * Whether the visitor has just signed in, which a change of a way to sign in needs. The clock of the process of that
 * sign-in may be ahead of ours by the skew.
 */
export function isRecent(
  { signIn }: Visitor,
  { clock, config }: Pick<PagesServer, 'clock' | 'config'>,
): boolean {
  const age = clock.now() - signIn.since;
  return age >= -config.tokens.skew * 1000 && age <= RECENT;
}
