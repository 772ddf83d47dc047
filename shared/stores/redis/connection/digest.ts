import { hash } from 'node:crypto';

/** SHA-256 in base64url: a part of a key that has a fixed length and hides its source. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha256', value, 'base64url');
}
