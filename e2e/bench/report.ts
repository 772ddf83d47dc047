import { availableParallelism, cpus, loadavg } from 'node:os';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import type { Measured } from './measure.ts';
import { round } from './statistics.ts';

/** A table whose rows have the same members, in the order of its columns. */
export interface Table {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}

/** The findings of a suite, and the number of wrong answers. */
export interface Findings {
  readonly tables: readonly Table[];
  /** Explanations of the tables. */
  readonly notes: readonly string[];
  readonly errors: number;
}

/** The machine and versions of the measurement. */
export function surroundings(clock: Clock = systemClock): Readonly<Record<string, string>> {
  return {
    date: new Date(clock.now()).toISOString(),
    node: process.version,
    cpu: `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown'}`,
    load: loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  };
}

/** Compares all rows with the first: the ratio is the multiple of requests per core. */
export function comparison(title: string, measured: readonly Measured[]): Table {
  const base = measured[0]?.cpu ?? Number.NaN;
  const rows = measured.map(
    ({ name, cpu, least, most, rate, memory, store, latency, count, errors }) => ({
      server: name,
      'cpu us/req': round(cpu, 1),
      'least..most': `${least.toFixed(1)}..${most.toFixed(1)}`,
      ...(store !== undefined && { 'store us': round(store, 1) }),
      'req/s/core': Math.round(1_000_000 / cpu),
      ratio: round(base / cpu, 2),
      'wall req/s': Math.round(rate),
      'peak MiB': Math.round(memory / 1024 ** 2),
      ...(latency && { 'p50 ms': round(latency.p50, 2), 'p99 ms': round(latency.p99, 2) }),
      count: Math.round(count),
      errors,
    }),
  );
  return { title, rows };
}

/** Plain text: tables with aligned columns, then the explanations. */
export function format({ tables, notes }: Findings): string {
  return [...tables.map(formatTable), ...notes, ''].join('\n');
}

function formatTable({ title, rows }: Table): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (row: Table['rows'][number], column: string) => String(row[column] ?? '');
  const widths = new Map(
    columns.map((name) => [
      name,
      Math.max(name.length, ...rows.map((row) => cell(row, name).length)),
    ]),
  );
  const line = (text: (column: string) => string) =>
    columns
      .map((column, index) => {
        const width = widths.get(column) ?? 0;
        return index === 0 ? text(column).padEnd(width) : text(column).padStart(width);
      })
      .join('  ')
      .trimEnd();
  const head = line((column) => column);
  const body = rows.map((row) => line((column) => cell(row, column)));
  return [title, head, '-'.repeat(head.length), ...body, ''].join('\n');
}
