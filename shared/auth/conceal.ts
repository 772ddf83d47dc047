import type { Outcome, ProtectionSpace } from './scheme.ts';

/**
 * Returns the outcome that a space with `hide` shows. With `forbidden` a 403 becomes a 404 that looks like the answer
 * to a request for a missing resource; a request without credentials still gets 401. With `everything` the space
 * seems absent (resource-server/space/hiding.ts). Only the log of such a space shows the reason.
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
