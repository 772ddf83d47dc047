import { createHash } from 'node:crypto';

/** SHA-256 as base64url: a key part of fixed length that does not show what it was made of. */
export function digest(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}
