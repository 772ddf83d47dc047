import type { VerifierRow } from '../../people/people.ts';

/**
 * The field of a verifier in the hash of a person: JSON, so that no other begins with it. With the handle
 * behind it, it is the field in the hash of handles.
 */
export const fieldOf = ({ kind, realm }: Pick<VerifierRow, 'kind' | 'realm'>): string =>
  JSON.stringify([kind, realm]);

/** Returns the value of the field. */
export const keptOf = ({ value, handle }: VerifierRow): string =>
  JSON.stringify(handle === undefined ? [value] : [value, handle]);

export function rowOf(field: string, kept: string): VerifierRow {
  const [kind, realm]: [string, string] = JSON.parse(field);
  const [value, handle]: [string, string?] = JSON.parse(kept);
  return { kind, realm, value, ...(handle !== undefined && { handle }) };
}
