import { timingSafeEqual } from 'node:crypto';

/** Compares in a time that does not tell where the difference is; only lengths are told. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The same for texts. The empty text equals nothing, so that two missing values do not pass. */
export function sameText(a: string, b: string): boolean {
  return a !== '' && sameBytes(Buffer.from(a), Buffer.from(b));
}
