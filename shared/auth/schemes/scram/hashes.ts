export type ScramHash = 'SHA-1' | 'SHA-256';

interface HashFunction {
  /** The name in node:crypto. */
  readonly name: string;
  /** Bytes of the hash's output. */
  readonly size: number;
}

export const SCRAM_HASHES: Readonly<Record<ScramHash, HashFunction>> = {
  'SHA-1': { name: 'sha1', size: 20 },
  'SHA-256': { name: 'sha256', size: 32 },
};

/** The highest count that Apache HttpClient accepts. */
export const SCRAM_ITERATIONS = 100_000;

/** Bytes of a salt; all salts have the same length, so that a salt does not show whether the person exists. */
export const SCRAM_SALT_BYTES = 16;
