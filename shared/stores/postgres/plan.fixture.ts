import { Client, escapeIdentifier } from 'pg';
import type { Statement } from './text.ts';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Plan[];
}

/** Nodes between which and a limit no row is read that is not asked for. */
const PASSES_ON: ReadonlySet<string> = new Set(['Limit', 'LockRows', 'Result', 'Subquery Scan']);

/** Resolves to the tables and indexes that a statement reads as a whole, in a schema without rows. */
export async function readAsWhole(
  { url, schema }: { readonly url: string; readonly schema: string },
  statements: readonly Statement[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const found = new Map<string, readonly string[]>();
  try {
    await client.query(
      `SET search_path = ${schema}; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off`,
    );
    for (const { text, parameters, ...statement } of statements) {
      const name = escapeIdentifier(statement.name);
      await client.query(`PREPARE ${name} AS ${text}`);
      const values = parameters.length > 0 ? `(${parameters.map(() => 'NULL').join(', ')})` : '';
      const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE ${name}${values}`,
      );
      const plans = rows[0]?.['QUERY PLAN'] ?? [];
      const whole = plans.flatMap(({ Plan }) => Array.from(wholeIn(Plan, false)));
      if (whole.length > 0) found.set(text, whole);
    }
  } finally {
    await client.end();
  }
  return found;
}

function* wholeIn(plan: Plan, isLimited: boolean): Generator<string> {
  const { 'Node Type': type, 'Index Name': index = '', Plans: plans = [] } = plan;
  // The rows that wait for a number are few, and no others are in that index.
  const isOfAll = type.includes('Index') && !plan['Index Cond'] && !index.endsWith('_waiting');
  if (type === 'Seq Scan' || (isOfAll && !isLimited)) yield plan['Relation Name'] ?? index;
  for (const part of plans) {
    yield* wholeIn(part, type === 'Limit' || (isLimited && PASSES_ON.has(type)));
  }
}
