import { ALL_REALMS, type VerifierRow } from './people.ts';

/** The keys of SCRAM for one hash in the record of a person, as older versions stored them; all but `iterations` in base64. */
export interface FormerScramKeys {
  readonly salt: string;
  readonly iterations: number;
  readonly stored_key: string;
  readonly server_key: string;
}

/** The same as a row, whose value is of RFC 5803 section 2. */
export const scramRow = (
  hash: string,
  { salt, iterations, stored_key, server_key }: FormerScramKeys,
): VerifierRow => ({
  kind: `scram ${hash}`,
  realm: ALL_REALMS,
  value: `SCRAM-${hash}$${iterations}:${salt}$${stored_key}:${server_key}`,
});
