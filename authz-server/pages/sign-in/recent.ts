import type { PagesServer } from '../../base/server.ts';
import type { Visitor } from './session.ts';

/** Milliseconds. */
const RECENT = 300_000;

/**
 * Whether the visitor has just signed in, as whoever changes a way to sign in must have. The clock of the process where they
 * did may be ahead of ours by the skew.
 */
export function isRecent(
  { signIn }: Visitor,
  { clock, config }: Pick<PagesServer, 'clock' | 'config'>,
): boolean {
  const age = clock.now() - signIn.since;
  return age >= -config.tokens.skew * 1000 && age <= RECENT;
}
