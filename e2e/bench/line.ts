import type { Measured } from './measure.ts';
import type { Table } from './report.ts';
import { round } from './statistics.ts';
import type { Goal } from './work.ts';

/** A row of the whole table. */
export type Line = Table['rows'][number];

/** Another server, or our first way. */
export interface Beside {
  readonly name: string;
  readonly goal: Goal | undefined;
  /** Its figures, or why there are none. */
  readonly found: Measured | Error;
}

export interface Standing {
  readonly own: Measured;
  readonly beside: Beside;
  /** Parallel requests. */
  readonly atOnce: number;
  /** Milliseconds of a single request at a time. */
  readonly alone: number | undefined;
  /** Wrong answers to single requests. */
  readonly errors: number;
}

const EMPTY = {
  work: '',
  way: '',
  'cpu us': '',
  'least..most': '',
  ratio: '',
  goal: '',
  beside: '',
  'beside us': '',
  'store us': '',
  'at once': '',
  'p50 ms': '',
  'p50 of one': '',
  'peak MiB': '',
  errors: 0,
  note: '',
};

export function lineOf(work: string, way: string, standing: Standing): Line {
  const { own, beside, atOnce, alone } = standing;
  const compared = lineBeside(work, way, own, beside);
  return {
    ...compared,
    'least..most': `${own.least.toFixed(1)}..${own.most.toFixed(1)}`,
    ...(own.store !== undefined && { 'store us': round(own.store, 1) }),
    'at once': atOnce,
    ...(own.latency && { 'p50 ms': round(own.latency.p50, 2) }),
    ...(alone !== undefined && { 'p50 of one': round(alone, 2) }),
    'peak MiB': Math.round(own.memory / 1024 ** 2),
    errors: Number(compared['errors']) + own.errors + standing.errors,
  };
}

/** Only the comparison: the line for the second server and further ones. */
export function lineBeside(
  work: string,
  way: string,
  own: Measured,
  { name, goal, found }: Beside,
): Line {
  const line = { ...EMPTY, work, way, 'cpu us': round(own.cpu, 1), beside: name };
  if (found instanceof Error)
    return { ...line, errors: 1, note: inOneLine(`${name}: ${found.message}`) };
  return {
    ...line,
    ratio: round(own.cpu / found.cpu, 2),
    ...(goal && { goal: round(goal(found.cpu) / found.cpu, 2) }),
    'beside us': round(found.cpu, 1),
    errors: found.errors,
  };
}

/** Returns the line of a work that could not be measured, which is an error. */
export function failure(work: string, way: string, error: unknown): Line {
  const note = error instanceof Error ? error.message : String(error);
  return { ...EMPTY, work, way, errors: 1, note: inOneLine(note) };
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 400);
