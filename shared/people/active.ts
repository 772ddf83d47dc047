import type { PersonRecord } from '#shared/stores/people/people.ts';

/**
 * Returns the person if they may sign in. `demo`: whether the person that the first start created may (never in
 * production).
 */
export function active(person: PersonRecord | undefined, demo: boolean): PersonRecord | undefined {
  return person !== undefined && !person.disabled && (demo || !person.demo) ? person : undefined;
}
