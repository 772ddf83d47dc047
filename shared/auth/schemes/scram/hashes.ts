export type ScramHash = 'SHA-1' | 'SHA-256';

interface HashFunction {
  /** As node:crypto calls it. */
  readonly name: string;
  /** Bytes of its output. */
  readonly size: number;
}

export const SCRAM_HASHES: Readonly<Record<ScramHash, HashFunction>> = {
  'SHA-1': { name: 'sha1', size: 20 },
  'SHA-256': { name: 'sha256', size: 32 },
};

/** Apache HttpClient refuses more. */
export const SCRAM_ITERATIONS = 100_000;

/** Bytes; one length for all, so that a salt does not say whether there is such a person. */
export const SCRAM_SALT_BYTES = 16;
