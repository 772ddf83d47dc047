/**
 * The answers by which a store says that it changed nothing, so that no entry of the audit log is written. All other
 * answers, and none, say that it did. `-1`, `0` and the words `changed` and `replaced` are those of scripts of Redis.
 */
const UNCHANGED: ReadonlySet<unknown> = new Set([
  false,
  0,
  -1,
  'absent',
  'again',
  'changed',
  'collides',
  'full',
  'gone',
  'last',
  'late',
  'refused',
  'taken',
]);

/** The words among them, for a script. */
export const UNCHANGED_WORDS: readonly string[] = [...UNCHANGED].filter(
  (answer) => typeof answer === 'string',
);

export const isUnchanged = (answer: unknown): boolean => UNCHANGED.has(answer);
