import { hkdfSync } from 'node:crypto';

/** A key of 32 bytes for one purpose (RFC 5869); of one purpose nothing follows about another. */
export function derivedKey(master: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', `countersign authz ${purpose}`, 32));
}
