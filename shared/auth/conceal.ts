import type { Outcome, ProtectionSpace } from './scheme.ts';

/**
 * What a space that hides shows in place of a refusal. `forbidden`: 404 in place of 403, with the fields
 * that a request for a missing resource gets as well, so that nobody can tell the two apart.
 */
export function conceal(space: ProtectionSpace, outcome: Outcome): Outcome {
  if (outcome.kind !== 'answer' || space.hide === undefined) return outcome;
  if (space.hide === 'everything') return { kind: 'absent', reason: outcome.reason };
  if (outcome.status !== 403) return outcome;
  const fields = Object.fromEntries(
    Object.entries(outcome.fields).filter(([name]) => name !== space.at.ask),
  );
  const { detail: _, ...hidden } = outcome;
  return { ...hidden, status: 404, fields };
}

/** Whether the value of Authorization or Proxy-Authorization is for Concealed, the one scheme that may hide. */
export const showsConcealed = (credentials = '') => /^concealed(?: |$)/i.test(credentials);
