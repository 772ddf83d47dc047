import type { Sql, Transaction } from '../sql.ts';

/** Resolves to how often what it counts was ended: 0 at first. */
export async function generationOf(sql: Sql, kind: string, id: string): Promise<number> {
  const [row] = await sql.all<[generation: number]>(
    'SELECT generation FROM generation WHERE kind = ? AND id = ?',
    kind,
    id,
  );
  return row?.[0] ?? 0;
}

/** The same, and nobody else raises it before the end of the transaction. */
export async function lockGeneration(sql: Transaction, kind: string, id: string): Promise<number> {
  await sql.run(
    'INSERT INTO generation (kind, id, generation) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
    kind,
    id,
  );
  const [row] = await sql.lock<[generation: number]>(
    'SELECT generation FROM generation WHERE kind = ? AND id = ?',
    kind,
    id,
  );
  return row?.[0] ?? 0;
}

/** Raises a generation, as the end of a transaction. Resolves to the new one. */
export async function raiseIn(
  sql: Transaction,
  kind: string,
  id: string,
  until: number,
): Promise<number> {
  const [row] = await sql.all<[generation: number]>(
    `INSERT INTO generation (kind, id, generation) VALUES (?, ?, 1)
     ON CONFLICT (kind, id) DO UPDATE SET generation = generation.generation + 1
     RETURNING generation`,
    kind,
    id,
  );
  const generation = row?.[0] ?? 1;
  await appendRevocation(sql, kind, id, generation, until);
  return generation;
}

/** The end of a transaction. */
export async function appendRevocation(
  sql: Transaction,
  kind: string,
  id: string,
  generation: number | null,
  until: number,
): Promise<void> {
  sql.flush();
  await sql.last.run(
    'INSERT INTO revocation (kind, id, generation, until) VALUES (?, ?, ?, ?)',
    kind,
    id,
    generation,
    Math.ceil(until),
  );
}
