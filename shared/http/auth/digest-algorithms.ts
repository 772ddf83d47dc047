/** The hashes of Digest (RFC 7616 section 6.1); the stored verifier is the same with and without `-sess`. */
export type DigestHash = 'MD5' | 'SHA-256' | 'SHA-512-256';

interface DigestAlgorithm {
  readonly hash: DigestHash;
  /** The name in `node:crypto`. */
  readonly crypto: 'md5' | 'sha256' | 'sha512-256';
  /** Characters of a digest in hexadecimal. */
  readonly hexLength: 32 | 64;
  /** True if A1 contains a nonce and a cnonce (RFC 7616 section 3.4.2). */
  readonly session: boolean;
}

const md5 = { hash: 'MD5', crypto: 'md5', hexLength: 32 } as const;
const sha256 = { hash: 'SHA-256', crypto: 'sha256', hexLength: 64 } as const;
const sha512256 = { hash: 'SHA-512-256', crypto: 'sha512-256', hexLength: 64 } as const;

/** The registered algorithms of Digest (RFC 7616 section 6.1), strongest first. */
export const DIGEST_ALGORITHMS = {
  'SHA-512-256': { ...sha512256, session: false },
  'SHA-512-256-sess': { ...sha512256, session: true },
  'SHA-256': { ...sha256, session: false },
  'SHA-256-sess': { ...sha256, session: true },
  MD5: { ...md5, session: false },
  'MD5-sess': { ...md5, session: true },
} satisfies Record<string, DigestAlgorithm>;

export type DigestAlgorithmName = keyof typeof DIGEST_ALGORITHMS;
