import type { AuditLink, IndexedRow } from '../../audit/audit.ts';
import type { Stores } from '../../stores.ts';

/** Returns a link that follows `head`, with these rows. */
export const linkAfter = (
  head: AuditLink | undefined,
  rows: number,
  changes: Partial<AuditLink> = {},
): AuditLink => ({
  number: (head?.number ?? 0) + 1,
  before: head?.mac ?? '',
  first: (head?.last ?? 0) + 1,
  last: (head?.last ?? 0) + rows,
  at: (head?.at ?? 0) + 1000,
  oldest: head?.oldest ?? 1,
  mac: `mac ${head?.number}`,
  ...changes,
});

/** Returns the rows that the open entries become, with the key `of` and their text as keys. */
export const rowsAfter = (
  head: AuditLink | undefined,
  texts: readonly string[],
): readonly IndexedRow[] =>
  texts.map((text, n) => ({ seq: (head?.last ?? 0) + 1 + n, text, keys: ['all', text] }));

/** Closes all open entries, and returns their texts. */
export async function closeAll({ audit }: Pick<Stores, 'audit'>): Promise<readonly string[]> {
  const all: string[] = [];
  for (;;) {
    const { texts, upTo, head } = await audit.open();
    if (texts.length === 0) return all;
    const closed = await audit.close(linkAfter(head, texts.length), rowsAfter(head, texts), upTo);
    if (closed) all.push(...texts);
  }
}
