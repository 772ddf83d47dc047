import { subjectOf } from '#shared/auth/person.ts';
import type { Principal } from '#shared/auth/scheme.ts';
import { accountName } from '#shared/stores/tree-names.ts';

/** Who asks where nothing says who. */
export const ANONYMOUS = 'anonymous';

/**
 * Whose something is: a person's by the id that stays theirs alone, an application's by its own. All who
 * are anonymous are one, since nothing may tell them apart.
 */
export function accountOf(principal: Principal): string {
  const id = subjectOf(principal);
  return id === undefined || principal.kind === 'anonymous'
    ? ANONYMOUS
    : accountName(principal.kind, id);
}
