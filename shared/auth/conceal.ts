import type { Outcome, ProtectionSpace } from './scheme.ts';

/**
 * Returns the outcome that a space with `hide` shows. `forbidden` turns a 403 into a 404 with the same fields that
 * a request for a missing resource gets, so that a client cannot tell the two apart; without credentials it still
 * answers 401. `everything` makes the space absent (resource-server/space/hiding.ts). The reason is for the log alone in
 * a space with `hide`.
 */
export function conceal(space: ProtectionSpace, outcome: Outcome): Outcome {
  if (outcome.kind !== 'answer' || space.hide === undefined) return outcome;
  if (space.hide === 'everything') {
    return { kind: 'absent', refusal: outcome.refusal, reason: outcome.reason };
  }
  if (outcome.status !== 403) return { ...outcome, untold: true };
  const fields = Object.fromEntries(
    Object.entries(outcome.fields).filter(([name]) => name !== space.at.ask),
  );
  const { detail: _, ...hidden } = outcome;
  return { ...hidden, status: 404, fields, untold: true };
}

/** True if the value of Authorization or Proxy-Authorization is for Concealed, the only scheme that may hide. */
export const showsConcealed = (credentials = '') => /^concealed(?: |$)/i.test(credentials);
