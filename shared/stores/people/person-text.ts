import type { PersonRecord } from './people.ts';

/** Read in place of who is not there; as long as most records are. */
export const NOBODY = JSON.stringify({
  id: '-'.repeat(22),
  name: '-'.repeat(8),
  password_hash: '-'.repeat(97),
  verifier_set: '-'.repeat(43),
  created_at: 0,
  version: 0,
} satisfies PersonRecord);

/**
 * The record that a store keeps as text. Where there is none another is read, so that the time does not tell who is
 * there: of people that are looked up by who has shown nothing yet but a name.
 */
export function personFrom(text: string | null | undefined): PersonRecord | undefined {
  const person: PersonRecord = JSON.parse(text ?? NOBODY);
  return text === null || text === undefined ? undefined : person;
}
