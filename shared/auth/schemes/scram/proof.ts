import { createHash, createHmac } from 'node:crypto';
import { sameBytes } from '#shared/base/constant-time.ts';
import { SCRAM_HASHES, type ScramHash } from './hashes.ts';
import type { ScramKeys } from './verifier.ts';

/**
 * ServerSignature, which shows the client that we are who keeps its keys; undefined when ClientProof does
 * not show that the client knows the password (RFC 5802 section 3).
 */
export function verifyProof(
  hash: ScramHash,
  { storedKey, serverKey }: Pick<ScramKeys, 'storedKey' | 'serverKey'>,
  authMessage: string,
  proof: Buffer,
): Buffer | undefined {
  const { name } = SCRAM_HASHES[hash];
  const clientSignature = createHmac(name, storedKey).update(authMessage).digest();
  const clientKey = proof.map((byte, index) => byte ^ (clientSignature[index] ?? 0));
  const right = sameBytes(createHash(name).update(clientKey).digest(), storedKey);
  return right ? createHmac(name, serverKey).update(authMessage).digest() : undefined;
}
