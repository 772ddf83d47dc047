import type { PersonRecord } from '#shared/stores/people/people.ts';

/** The people who may sign in, as far as the configuration decides it. */
export interface Admitted {
  /** Whether the person that the first start created may sign in (never in production). */
  readonly demo: boolean;
  /** The names of the configured sources. People of any other source may not sign in. */
  readonly sources: ReadonlySet<string>;
}

/** Returns the person if they may sign in. */
export function active(
  person: PersonRecord | undefined,
  { demo, sources }: Admitted,
): PersonRecord | undefined {
  if (person === undefined || person.disabled || (person.demo && !demo)) return undefined;
  return person.origin === undefined || sources.has(person.origin.source) ? person : undefined;
}
