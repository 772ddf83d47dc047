import { createHmac } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { AuditLink, AuditRow } from '#shared/stores/audit/audit.ts';

export const macKey = (master: Buffer): Buffer => derivedKey(master, 'countersign audit chain');

/**
 * Returns the MAC of a link (HMAC-SHA-256, RFC 2104). It covers the link's position, the preceding MAC, and the
 * link's rows in their order.
 */
export function macOf(
  key: Buffer,
  { number, before, first, last, at, oldest }: Omit<AuditLink, 'mac'>,
  rows: readonly AuditRow[],
): string {
  const listed = rows.map(({ seq, text }) => [seq, text]);
  const covered = JSON.stringify([number, before, first, last, at, oldest, listed]);
  return createHmac('sha256', key).update(covered).digest('base64url');
}
