import { tellOfRaise } from '../logout/logouts.ts';
import { first, insert, insertNew } from '../rows.ts';
import type { Sql, Transaction } from '../sql.ts';

type Row = readonly [generation: number];

const FIND = 'SELECT generation FROM generation WHERE kind = ? AND id = ?';

/** Resolves to the generation of a person or client, 0 at first. */
export const generationOf = async (sql: Sql, kind: string, id: string): Promise<number> =>
  (await first<Row>(sql, FIND, kind, id))?.[0] ?? 0;

/** Reads and locks a generation. */
export async function lockGeneration(sql: Transaction, kind: string, id: string): Promise<number> {
  await insertNew(sql, 'generation', { kind, id, generation: 0 });
  const [row] = await sql.lock<Row>(FIND, kind, id);
  return row?.[0] ?? 0;
}

export async function raise(sql: Sql, kind: string, id: string): Promise<number> {
  const text = `INSERT INTO generation (kind, id, generation) VALUES (?, ?, 1)
    ON CONFLICT (kind, id) DO UPDATE SET generation = generation.generation + 1
    RETURNING generation`;
  const row = await first<Row>(sql, text, kind, id);
  return row?.[0] ?? 1;
}

/** Raises a generation and appends the revocation, at the end of a transaction. Resolves to the new generation. */
export async function raiseIn(
  sql: Transaction,
  kind: string,
  id: string,
  { until, now }: { readonly until: number; readonly now: number },
): Promise<number> {
  const generation = await raise(sql, kind, id);
  await tellOfRaise(sql, kind, id, generation, now);
  await appendRevocation(sql, kind, id, generation, until);
  return generation;
}

/** Appends a revocation to the feed, at the end of a transaction. */
export async function appendRevocation(
  sql: Transaction,
  kind: string,
  id: string,
  generation: number | null,
  until: number,
): Promise<void> {
  sql.flush();
  await insert(sql.last, 'revocation', { kind, id, generation, until: Math.ceil(until) });
}
