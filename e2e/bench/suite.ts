import { overWrk } from './http-load.ts';
import type { HttpContender } from './http-load.ts';
import { compare } from './measure.ts';
import type { Contender, Schedule } from './measure.ts';
import { comparison } from './report.ts';
import type { Findings, Table } from './report.ts';

/** Contenders of the same task. */
export interface Comparison {
  readonly title: string;
  /** The first is what the others are compared with. */
  readonly contenders: readonly Contender[];
  /** What is counted; default: requests. */
  readonly unit?: string;
}

type Found = Pick<Findings, 'tables' | 'errors'>;

/** Measures one comparison after another; the contenders of all have to be there from the beginning. */
export async function compareAll(
  comparisons: readonly Comparison[],
  say: (line: string) => void,
  schedule?: Schedule,
): Promise<Found> {
  const tables: Table[] = [];
  let errors = 0;
  for (const { title, contenders, unit } of comparisons) {
    say(`  ${title}`);
    const measured = await compare(contenders, say, schedule);
    errors += measured.reduce((sum, row) => sum + row.errors, 0);
    tables.push(comparison(title, measured, unit));
  }
  return { tables, errors };
}

/** The same for servers that wrk sends requests to, by title. */
export function compareRequests(
  comparisons: Readonly<Record<string, readonly HttpContender[]>>,
  connections: number,
  say: (line: string) => void,
): Promise<Found> {
  const loaded = Object.entries(comparisons).map(([title, contenders]) => ({
    title,
    contenders: contenders.map((contender) => overWrk(contender, connections)),
  }));
  return compareAll(loaded, say);
}
