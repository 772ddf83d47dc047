import { timingSafeEqual } from 'node:crypto';

/** In constant time for texts of one length; nothing equals the empty one. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length > 0 && left.length === right.length && timingSafeEqual(left, right);
}
