/**
 * The answers by which a store says that it changed nothing, so that no entry of the audit log is written. All other
 * answers, and none, say that it did.
 */
const UNCHANGED: ReadonlySet<unknown> = new Set([
  false,
  0,
  'absent',
  'again',
  'collides',
  'full',
  'gone',
  'last',
  'late',
  'refused',
  'taken',
]);

export const isUnchanged = (answer: unknown): boolean => UNCHANGED.has(answer);
