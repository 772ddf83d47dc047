import { timingSafeEqual } from 'node:crypto';

/** Compares in a time that does not reveal where the difference is; only the lengths may be revealed. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares texts in the same way. An empty text equals no text, so that two missing values are not equal. */
export function sameText(a: string, b: string): boolean {
  return a !== '' && sameBytes(Buffer.from(a), Buffer.from(b));
}
