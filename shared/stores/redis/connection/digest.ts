import { hash } from 'node:crypto';

/** SHA-256 as base64url: a key part of fixed length that does not show what it was made of. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url');
}
