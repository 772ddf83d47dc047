/**
 * Tables whose older rows would undo what was ended since: they are in no backup, and go when a store has lost something.
 * Without the epoch every token issued before is refused.
 */
export const UNDOING = ['epoch', 'artefact', 'invalidation', 'followed', 'settled'] as const;
