import { createHash } from 'node:crypto';
import type { VerifierKind } from './verifier-kind.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns a kind of an invented scheme: a row for each realm, with a handle. */
export const proofKind = (variant: string): VerifierKind => ({
  kind: `proof ${variant}`,
  title: `Proof ${variant}`,
  keeps: `proof of ${variant}`,
  everywhere: false,
  derive: async ({ name, realm, password }) => hash([variant, name, realm, password].join('\n')),
  isValue: (text) => /^[0-9a-f]{64}$/.test(text),
  handle: (name, realm) => hash([variant, name, realm].join('\n')),
});

/**
 * Returns a kind of another invented scheme: a new salt and a hash, valid in all realms, of any password without ½.
 */
export const sealKind = (variant: string): VerifierKind => ({
  kind: `seal ${variant}`,
  title: `Seal ${variant}`,
  keeps: `seal of ${variant}`,
  everywhere: true,
  async derive({ password }, random) {
    const salt = random(16).toString('hex');
    return password.includes('½')
      ? undefined
      : `${salt} ${hash(`${variant}\n${salt}\n${password}`)}`;
  },
  isValue: (text) => /^[0-9a-f]{32} [0-9a-f]{64}$/.test(text),
});

export const [PROOF, OTHER_PROOF] = [proofKind('one'), proofKind('two')] as const;
export const [SEAL, OTHER_SEAL] = [sealKind('one'), sealKind('two')] as const;
