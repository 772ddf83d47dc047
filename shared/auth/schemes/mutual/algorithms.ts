/** The encoding of an algorithm's numbers in messages (RFC 8120 section 3.2.3). */
export type NumberFormat = 'base64' | 'hex';

/** An algorithm of RFC 8121 section 3. */
export interface MutualAlgorithm {
  /** The hash function H, named as in node:crypto. */
  readonly hash: 'sha256' | 'sha512';
  /** Octets of the hash's output. */
  readonly hashOctets: number;
  /** Octets of K_c1, K_s1, J and z (RFC 8121 appendix B). */
  readonly octets: number;
  readonly format: NumberFormat;
}

const [SHA_256, SHA_512] = [
  { hash: 'sha256', hashOctets: 32 },
  { hash: 'sha512', hashOctets: 64 },
] as const;

/**
 * Algorithms by their tokens, in lower case, because the protocol hashes the token in lower case (RFC 8120 section
 * 3.2.1).
 */
export const MUTUAL_ALGORITHMS = {
  'iso-kam3-dl-2048-sha256': { ...SHA_256, octets: 256, format: 'base64' },
  'iso-kam3-dl-4096-sha512': { ...SHA_512, octets: 512, format: 'base64' },
  'iso-kam3-ec-p256-sha256': { ...SHA_256, octets: 33, format: 'hex' },
  'iso-kam3-ec-p521-sha512': { ...SHA_512, octets: 66, format: 'hex' },
} as const satisfies Record<string, MutualAlgorithm>;

export type MutualAlgorithmName = keyof typeof MUTUAL_ALGORITHMS;

export const MUTUAL_ALGORITHM_NAMES = Object.keys(MUTUAL_ALGORITHMS) as [
  MutualAlgorithmName,
  ...MutualAlgorithmName[],
];

/** The iteration count nIterPi (RFC 8121 section 3). */
export const ITERATIONS = 16_384;
